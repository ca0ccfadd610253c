import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import type { SearchPage } from "../../api/search";
import { type StreamHandler, numberIn } from "../../live/handlers";
import { reloadSoon } from "../../live/reloadSoon";
import type { LiveEvent } from "../../live/stream";

/** Searches again when a message among the results changes: it may no longer match. */
export const searchHandler = {
  events: { message_updated: reloadFound, message_deleted: reloadFound, reaction: reloadFound },
} satisfies StreamHandler;

function reloadFound(client: QueryClient, event: LiveEvent): void {
  const id = numberIn(event, "message_id");
  const results = client.getQueriesData<InfiniteData<SearchPage>>({ queryKey: ["search"] });
  const isFound = results.some(([, data]) => data?.pages.some((page) => page.items.some((message) => message.id === id)));
  if (isFound) reloadSoon(client, "search");
}
