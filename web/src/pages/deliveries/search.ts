import { countParam, momentParam, textParam } from "../../lib/searchParams";

/** What the address of the page says. Every page loads this, so words that the hub does not know are sorted out by `filterOf`. */
export interface DeliverySearch {
  agent?: string;
  webhook?: number;
  status?: string;
  event?: string;
  since?: string;
  until?: string;
  /** The delivery that is open at the side. */
  peek?: number;
}

export function deliverySearch(search: Record<string, unknown>): DeliverySearch {
  return {
    agent: textParam(search["agent"]),
    webhook: countParam(search["webhook"]),
    status: textParam(search["status"]),
    event: textParam(search["event"]),
    since: momentParam(search["since"]),
    until: momentParam(search["until"]),
    peek: countParam(search["peek"]),
  };
}
