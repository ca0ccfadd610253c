import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { type DeliveryFilter, LOOKS_AGAIN_MS, type Webhook, deliveriesQuery, isFinal } from "../../api/webhooks";
import { isSending, pulseOf } from "./words";

const SELDOM_MS = 30_000;
/** With more pages than this, the person reads older deliveries, and each reload would fetch all pages. */
const MOST_PAGES_RELOADED = 3;

/**
 * Deliveries, kept up to date. Each may carry 20 answers of 4 KiB, so the page reloads them when their webhooks change, every 5 seconds
 * while something is sent, and seldom otherwise.
 */
export function useDeliveries(filter: DeliveryFilter, webhooks: readonly Webhook[] | undefined, limit?: number) {
  const client = useQueryClient();
  const query = deliveriesQuery(filter, limit);
  const isBusy = webhooks?.some(isSending) ?? false;
  const list = useInfiniteQuery({
    ...query,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => {
      if (isFinal(state.error) || (state.data?.pages.length ?? 0) > MOST_PAGES_RELOADED) return false;
      return isBusy ? LOOKS_AGAIN_MS : SELDOM_MS;
    },
  });
  const pulse = webhooks && pulseOf(webhooks);
  const lastPulse = useRef(pulse);
  const isFollowed = (list.data?.pages.length ?? 0) <= MOST_PAGES_RELOADED;
  useEffect(() => {
    const hasHappened = lastPulse.current !== undefined && lastPulse.current !== pulse;
    lastPulse.current = pulse;
    if (hasHappened && isFollowed) void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    // A change of the filter is no reason to reload.
  }, [pulse]);
  return list;
}
