import { queryOptions } from "@tanstack/react-query";

import type { PresenceState } from "../ui/PresenceDot";
import { api, ok } from "./client";
import { PRESENCES_KEY } from "./presencesKey";

const PAGE = 200;
/** A hub may have thousands of people and agents. The sidebar shows few of them, and the stream tells of the others. */
const MOST_PAGES = 5;

/** What everybody is doing now, by name. The stream keeps it up to date. */
export const presencesQuery = queryOptions({
  queryKey: PRESENCES_KEY,
  queryFn: async (): Promise<ReadonlyMap<string, PresenceState>> => {
    const presences = new Map<string, PresenceState>();
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const { items, next_cursor } = await ok(api.GET("/api/directory", { params: { query: { limit: PAGE, cursor } } }));
      for (const { name, presence } of items) if (presence) presences.set(name, presence);
      if (!next_cursor) break;
      cursor = next_cursor;
    }
    return presences;
  },
  staleTime: 60_000,
});
