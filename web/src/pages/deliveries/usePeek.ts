import { getRouteApi } from "@tanstack/react-router";
import { useRef } from "react";

import type { Delivery } from "../../api/webhooks";
import { peekKeys } from "../../ui/peekKeys";

const route = getRouteApi("/deliveries");

/** Opens a delivery beside the list and goes from delivery to delivery along it, loading older ones when it comes to the end. */
export function usePeek(items: readonly Delivery[], loadOlder: (() => Promise<readonly Delivery[]>) | null) {
  const { peek: id } = route.useSearch();
  const navigate = route.useNavigate();
  const opener = useRef<HTMLElement | null>(null);
  const peek = (delivery: Pick<Delivery, "id">) => {
    if (id === undefined) opener.current = document.activeElement as HTMLElement | null;
    // Back closes the delivery, because on a phone it covers the page. Going to the next one adds no entry to the history.
    void navigate({ search: (now) => ({ ...now, peek: delivery.id }), replace: id !== undefined });
  };
  const close = () => {
    void navigate({ search: (now) => ({ ...now, peek: undefined }), replace: true });
    opener.current?.focus();
  };
  // The list has the newest first, and new ones come in while one reads: the neighbour is found by its number, not by its place.
  const older = id === undefined ? items[0] : items.find((one) => one.id < id);
  const newer = id === undefined ? items[0] : items.findLast((one) => one.id > id);
  const step = async (by: 1 | -1) => {
    if (by === -1) return newer && peek(newer);
    if (older) return peek(older);
    const next = (await loadOlder?.())?.find((one) => id === undefined || one.id < id);
    return next && peek(next);
  };
  const onKeyDown = peekKeys({ isOpen: id !== undefined, close, step: (by) => void step(by) });
  return { peek, close, step: (by: 1 | -1) => void step(by), hasNewer: newer !== undefined, hasOlder: older !== undefined || loadOlder !== null, onKeyDown };
}
