import { countParam, textParam } from "../../lib/searchParams";

/** What the address of the list of runs says. Every page loads this, so `filterOf` drops the words that the hub does not know. */
export interface RunSearch {
  agent?: string;
  status?: string;
  offset?: number;
}

export function runSearch(search: Record<string, unknown>): RunSearch {
  return { agent: textParam(search["agent"]), status: textParam(search["status"]), offset: countParam(search["offset"]) };
}
