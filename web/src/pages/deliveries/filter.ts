import { DELIVERY_EVENTS, DELIVERY_STATUSES, holds } from "../../agents/webhooks/words";
import type { DeliveryFilter, DeliveryStatus, Webhook } from "../../api/webhooks";
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

type Counts = Pick<Webhook, "dead_letters" | "waiting" | "disabled_reason">;

/** How many deliveries are in a status, where the webhooks say it. */
export function countIn(status: DeliveryStatus, webhooks: readonly Counts[]): number {
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  if (status === "dead") return sum(webhooks.map((webhook) => webhook.dead_letters));
  if (status !== "pending" && status !== "held") return 0;
  return sum(webhooks.filter((webhook) => holds(webhook) === (status === "held")).map((webhook) => webhook.waiting));
}
