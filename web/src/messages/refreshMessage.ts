import type { QueryClient } from "@tanstack/react-query";

import { api, ok } from "../api/client";
import { type Conversation, messageQuery, threadsQuery } from "../api/queries";
import type { Message } from "../api/types";
import { changeMessage } from "./cache";

/** Messages that the person is reacting to, and whether an event has named them since. Their answer is newer than those events. */
export const reacting = new Map<number, boolean>();
/** Messages that are being loaded, and whether an event has named them since. */
const loading = new Map<number, boolean>();
/** The shortest time between two requests for the same message. */
const REFRESH_MS = 250;

/** Loads a message again, if the page shows it. */
export async function refreshMessage(client: QueryClient, id: number): Promise<void> {
  if (!isShown(client, id)) return;
  if (reacting.has(id)) return void reacting.set(id, true);
  if (loading.has(id)) return void loading.set(id, true);
  loading.set(id, false);
  const fresh = await ok(api.GET("/api/messages/{id}", { params: { path: { id } } })).catch(() => null);
  // The message may have changed again after the hub read it.
  const isOutdated = loading.get(id) === true;
  if (isOutdated) await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  loading.delete(id);
  if (reacting.has(id)) reacting.set(id, true);
  else if (isOutdated) await refreshMessage(client, id);
  else if (fresh) changeMessage(client, id, () => fresh);
}

function isShown(client: QueryClient, id: number): boolean {
  const has = (messages: Message[] | undefined) => messages?.some((message) => message.id === id) ?? false;
  return (
    client.getQueriesData<Conversation>({ queryKey: ["conversation"] }).some(([, data]) => has(data?.items)) ||
    client.getQueriesData<Message[]>({ queryKey: ["replies"] }).some(([, data]) => has(data)) ||
    has(client.getQueryData(threadsQuery.queryKey)?.items.map(({ message }) => message)) ||
    client.getQueryData(messageQuery(id).queryKey) !== undefined
  );
}
