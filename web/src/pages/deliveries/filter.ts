import { DELIVERY_EVENTS, DELIVERY_STATUSES } from "../../agents/webhooks/words";
import type { DeliveryFilter } from "../../api/webhooks";
import type { DeliverySearch } from "./search";

/** Only what narrows the list, so that equal filters are equal. */
export function filterOf({ agent, webhook, status, event, since, until }: DeliverySearch): DeliveryFilter {
  const filter = {
    agent,
    webhook,
    status: DELIVERY_STATUSES.find((one) => one === status),
    event: DELIVERY_EVENTS.find((one) => one === event),
    since,
    until,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
