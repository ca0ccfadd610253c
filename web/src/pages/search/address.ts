import type { SearchFilter } from "../../api/search";

/** What the address of the page says. The names are those of the hub's parameters. */
export interface Search extends SearchFilter {
  /** How many results are to be there at least. */
  shown?: number;
}

export const FILTERS = ["channel", "agent", "state", "has", "after", "before"] as const;

export type Filter = (typeof FILTERS)[number];

function words(value: unknown): string | undefined {
  // Names made of digits only arrive as numbers.
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

export function searchIn(address: Record<string, unknown>): Search {
  const shown = Number(address["shown"]);
  return {
    q: words(address["q"]),
    channel: words(address["channel"]),
    agent: words(address["agent"]),
    state: words(address["state"]),
    has: words(address["has"]),
    after: words(address["after"]),
    before: words(address["before"]),
    shown: Number.isSafeInteger(shown) && shown > 0 ? shown : undefined,
  };
}
