import type { QueryClient } from "@tanstack/react-query";

import { type Conversation, conversationQuery } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { markRead } from "../api/workflow";
import { keptUnread } from "./useMarkRead";

/** Makes the last message of somebody else unread, and with it what came after it. False if there is none. */
export async function markUnread(client: QueryClient, place: Place, me: string | undefined): Promise<boolean> {
  const { queryKey } = conversationQuery(place);
  const items = client.getQueryData<Conversation>(queryKey)?.items ?? [];
  const at = items.findLastIndex(({ from, deleted_at }) => from.name !== me && !deleted_at);
  if (at < 0) return false;
  keptUnread.set(placeKey(place));
  const before = items[at - 1]?.id ?? 0;
  await markRead(place, before);
  client.setQueryData<Conversation>(queryKey, (now) => now && { ...now, lastRead: before });
  for (const key of ["unread", "partners"]) void client.invalidateQueries({ queryKey: [key] });
  return true;
}
