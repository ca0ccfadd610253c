import type { Trace, TraceFilter } from "../../api/traces";
import type { TraceSearch } from "./search";

/** Only what narrows the list, so that equal filters are equal. */
export function filterOf({ agent, action, since, until }: TraceSearch): TraceFilter {
  const filter: TraceFilter = {};
  if (agent) filter.agent = agent;
  if (action) filter.action = action;
  if (since) filter.since = since;
  if (until) filter.until = until;
  return filter;
}

export function exportLink(filter: TraceFilter, format: "json" | "csv"): string {
  return `/api/traces/export?${new URLSearchParams({ format, ...filter }).toString()}`;
}

/** Whether one is further down the list, which has the newest first. */
function isBelow(one: Trace, other: Trace): boolean {
  const apart = Date.parse(one.created_at) - Date.parse(other.created_at);
  return apart === 0 ? one.id < other.id : apart < 0;
}

/**
 * The neighbour of a trace in a page that is at hand: the next one down, or with -1 the next one up. Found by its place in the order and
 * not by counting, because what is done in the meantime moves everything down.
 */
export function neighbour(items: readonly Trace[], from: Trace, step: 1 | -1): Trace | undefined {
  return step === 1 ? items.find((one) => isBelow(one, from)) : items.findLast((one) => isBelow(from, one));
}
