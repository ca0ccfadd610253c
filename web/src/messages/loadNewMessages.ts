import type { QueryClient } from "@tanstack/react-query";

import { Problem } from "../api/problem";
import { type Conversation, conversationQuery, fetchMessages } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { addMessages } from "./cache";

const MOST_AT_ONCE = 200;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;
/** Conversations that are being brought up to date, and whether more messages have arrived since. */
const loading = new Map<string, boolean>();

/** Loads the messages after the last one in the cache. Those that arrive meanwhile are loaded together afterwards. */
export async function loadNewMessages(client: QueryClient, place: Place): Promise<void> {
  const { queryKey } = conversationQuery(place);
  const key = placeKey(place);
  if (loading.has(key)) return void loading.set(key, true);
  let pause = FIRST_PAUSE;
  try {
    for (;;) {
      loading.set(key, false);
      // An answer that is still on its way may be older than the new message.
      const query = client.getQueryCache().find<Conversation>({ queryKey });
      if (query?.state.fetchStatus === "fetching") await query.promise?.catch(() => undefined);
      const known = client.getQueryData<Conversation>(queryKey);
      if (!known) return;
      const after = known.items.at(-1)?.id;
      try {
        const page = await fetchMessages(place, after === undefined ? {} : { after, limit: MOST_AT_ONCE });
        addMessages(client, place, page.items);
        pause = FIRST_PAUSE;
        const isFull = after !== undefined && page.items.length >= MOST_AT_ONCE;
        if (!isFull && loading.get(key) !== true) return;
      } catch (error) {
        // The hub sends an event once, so the page retries until it has the messages or is refused.
        if (!(error instanceof Problem && error.isPassing)) return void client.invalidateQueries({ queryKey, exact: true });
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    }
  } finally {
    loading.delete(key);
  }
}
