import type { QueryClient } from "@tanstack/react-query";

import { channelQuery, conversationQuery, meQuery } from "../api/queries";

/** Asks who looks at the page, and for the conversation at an address while it is still being found out who asks, so that one need not wait for the one after the other. */
export function askAhead(client: QueryClient, path: string): void {
  const [, kind, name] = /^\/(channels|dm)\/([A-Za-z0-9_-]+)\/?$/.exec(path) ?? [];
  void client.prefetchQuery(meQuery);
  if (!kind || !name) return;
  if (kind === "dm") return void client.prefetchQuery(conversationQuery({ kind: "dm", name }));
  void client.prefetchQuery(conversationQuery({ kind: "channel", name }));
  void client.prefetchQuery(channelQuery(name));
}
