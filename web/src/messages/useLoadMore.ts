import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

import { type Conversation, PAGE, fetchMessages } from "../api/queries";
import type { Place } from "../api/types";
import { merge } from "./cache";
import { withOlder } from "./parts";

/** Loads the messages before or after those in the cache. */
export function useLoadMore(place: Place, dataKey: QueryKey): (direction: "older" | "newer") => Promise<void> {
  const client = useQueryClient();
  const loading = useRef(new Set<string>());
  return useCallback(
    async (direction: "older" | "newer") => {
      const now = client.getQueryData<Conversation>(dataKey);
      const edge = direction === "older" ? now?.hasOlder && now.items[0] : now?.hasNewer && now.items.at(-1);
      if (!edge || loading.current.has(direction)) return;
      loading.current.add(direction);
      try {
        const limit = PAGE * 2;
        const { items } = await fetchMessages(place, { limit, [direction === "older" ? "before" : "after"]: edge.id });
        client.setQueryData<Conversation>(dataKey, (latest) => {
          if (!latest) return latest;
          if (direction === "older") return withOlder(latest, items);
          return { ...latest, items: merge(latest.items, items), hasNewer: items.length >= limit };
        });
      } catch {
        // It is retried when the person scrolls on, or when the hub is back.
      } finally {
        loading.current.delete(direction);
      }
    },
    [client, dataKey, place],
  );
}
