import type { TraceFilter } from "../../api/traces";
import { countParam, momentParam, textParam } from "../../lib/searchParams";

/** What the address of the page says. Every page loads this, and `filter.ts` only the page of traces. */
export interface TraceSearch extends TraceFilter {
  offset?: number;
  /** The trace that is open at the side. */
  peek?: number;
}

export function traceSearch(search: Record<string, unknown>): TraceSearch {
  return {
    agent: textParam(search["agent"]),
    action: textParam(search["action"]),
    since: momentParam(search["since"]),
    until: momentParam(search["until"]),
    offset: countParam(search["offset"]),
    peek: countParam(search["peek"]),
  };
}
