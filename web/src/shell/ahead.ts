import type { QueryClient } from "@tanstack/react-query";

import { conversationAhead } from "../api/ahead";
import { aroundQuery, channelQuery, conversationQuery, meQuery } from "../api/queries";
import type { Place } from "../api/types";
import { farUnread, readUpTo } from "../messages/unread";

/** How long the frame of the page waits for what is to be within it: to draw all of it at once is faster than in two steps. */
const WORTH_WAITING_MS = 60;

let asked: Promise<unknown> = Promise.resolve();

/** Has the answers to what was asked for ahead where the page looks for them: who looks at it, and the conversation at its address. */
export function takeAhead(client: QueryClient): void {
  const place = conversationAhead();
  const all = [client.prefetchQuery(meQuery)];
  if (place) all.push(takeConversation(client, place));
  asked = Promise.all(all);
}

/** The conversation, and what is around its first unread message if that is far from its end. */
async function takeConversation(client: QueryClient, place: Place): Promise<void> {
  const channel = place.kind === "channel" ? channelQuery(place.name) : undefined;
  await Promise.all([client.prefetchQuery(conversationQuery(place)), channel && client.prefetchQuery(channel)]);
  const data = client.getQueryData(conversationQuery(place).queryKey);
  if (!data || new URLSearchParams(location.search).has("at")) return;
  const isMember = channel ? client.getQueryData(channel.queryKey)?.channel?.is_member : true;
  const from = farUnread(data, readUpTo(data, isMember));
  // Kept until the list is drawn, which takes it.
  if (from !== undefined) await client.prefetchQuery({ ...aroundQuery(place, from), gcTime: 10_000 });
}

/** When it is there, or takes longer than one wants to look at nothing. */
export function isAhead(): Promise<unknown> {
  return Promise.race([asked, new Promise((resolve) => setTimeout(resolve, WORTH_WAITING_MS))]);
}
