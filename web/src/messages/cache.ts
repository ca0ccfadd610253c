import type { QueryClient } from "@tanstack/react-query";

import { type Conversation, conversationQuery, messageQuery, threadsQuery } from "../api/queries";
import type { Message, Place } from "../api/types";

/** Puts messages into a conversation, each once and in order. */
export function addMessages(client: QueryClient, place: Place, messages: Message[]): void {
  const { queryKey } = conversationQuery(place);
  client.setQueryData<Conversation>(queryKey, (now) => now && { ...now, items: merge(now.items, messages) });
}

export function merge(known: Message[], added: Message[]): Message[] {
  if (added.length === 0) return known;
  const last = known.at(-1)?.id ?? 0;
  // Most often all of them are newer and in order.
  if (added.every(({ id }, at) => id > (added[at - 1]?.id ?? last))) return [...known, ...added];
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of added) byId.set(message.id, message);
  return [...byId.values()].sort((one, other) => one.id - other.id);
}

/** Changes a message wherever it is shown. */
export function changeMessage(client: QueryClient, id: number, change: (message: Message) => Message): void {
  const changed = (message: Message) => (message.id === id ? change(message) : message);
  client.setQueriesData<Conversation>({ queryKey: ["conversation"] }, (now) =>
    now?.items.some((message) => message.id === id) ? { ...now, items: now.items.map(changed) } : now,
  );
  client.setQueriesData<Message[]>({ queryKey: ["replies"] }, (now) =>
    now?.some((message) => message.id === id) ? now.map(changed) : now,
  );
  client.setQueryData(threadsQuery.queryKey, (now) =>
    now?.items.some(({ message }) => message.id === id)
      ? { ...now, items: now.items.map((thread) => ({ ...thread, message: changed(thread.message) })) }
      : now,
  );
  client.setQueryData<Message>(messageQuery(id).queryKey, (now) => now && change(now));
}
