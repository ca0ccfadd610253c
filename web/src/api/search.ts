import { infiniteQueryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

export type Hit = components["schemas"]["Hit"];
export type SearchPage = components["schemas"]["SearchPage"];

/** What is looked for. Each part narrows it. */
export interface SearchFilter {
  q?: string;
  /** Names with commas, where `-name` is left out; so are `agent`, `state` and `has`. */
  channel?: string;
  agent?: string;
  state?: string;
  has?: string;
  after?: string;
  before?: string;
}

/** Results that are loaded at a time. */
export const HITS = 50;
/** Further down the hub does not go. */
const LAST_OFFSET = 10_000;

export const searchQuery = (search: SearchFilter) =>
  infiniteQueryOptions({
    queryKey: ["search", search],
    queryFn: ({ pageParam: offset }) => ok(api.GET("/api/messages/search", { params: { query: { ...search, offset, limit: HITS } } })),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const next = last.offset + last.items.length;
      return last.items.length > 0 && next < last.total && next <= LAST_OFFSET ? next : undefined;
    },
    placeholderData: (before) => before,
  });
