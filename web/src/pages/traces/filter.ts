import type { Trace, TraceFilter } from "../../api/traces";

/** What the address of the page says. */
export interface TraceSearch extends TraceFilter {
  offset?: number;
  /** The trace that is open at the side. */
  peek?: number;
}

function words(value: unknown): string | undefined {
  // Names made of digits only arrive as numbers.
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
}

function moment(value: unknown): string | undefined {
  const text = words(value);
  return text && !Number.isNaN(new Date(text).getTime()) ? text : undefined;
}

function count(value: unknown): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

export function traceSearch(search: Record<string, unknown>): TraceSearch {
  return {
    agent: words(search["agent"]),
    action: words(search["action"]),
    since: moment(search["since"]),
    until: moment(search["until"]),
    offset: count(search["offset"]),
    peek: count(search["peek"]),
  };
}

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
