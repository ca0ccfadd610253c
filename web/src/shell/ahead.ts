import type { QueryClient } from "@tanstack/react-query";

import { conversationAhead } from "../api/ahead";
import { channelQuery, conversationQuery, meQuery } from "../api/queries";

/** How long the frame of the page waits for what is to be within it: to draw all of it at once is faster than in two steps. */
const WORTH_WAITING_MS = 60;

let asked: Promise<unknown> = Promise.resolve();

/** Has the answers to what was asked for ahead where the page looks for them: who looks at it, and the conversation at its address. */
export function takeAhead(client: QueryClient): void {
  const place = conversationAhead();
  const all = [client.prefetchQuery(meQuery)];
  if (place) all.push(client.prefetchQuery(conversationQuery(place)));
  if (place?.kind === "channel") all.push(client.prefetchQuery(channelQuery(place.name)));
  asked = Promise.all(all);
}

/** When it is there, or takes longer than one wants to look at nothing. */
export function isAhead(): Promise<unknown> {
  return Promise.race([asked, new Promise((resolve) => setTimeout(resolve, WORTH_WAITING_MS))]);
}
