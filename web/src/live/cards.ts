import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import type { ColumnPage, Found, ReactionView } from "../api/workflow";
import type { Message, WorkflowState } from "../api/types";

type Columns = InfiniteData<ColumnPage, ColumnPage["next"]>;

/** A message as the boards and the inbox have it, if one of them shows it. */
export function findCard(client: QueryClient, id: number): Message | undefined {
  for (const [, data] of client.getQueriesData<Columns>({ queryKey: ["board"] })) {
    for (const page of data?.pages ?? []) {
      const found = page.items.find((message) => message.id === id);
      if (found) return found;
    }
  }
  for (const [, data] of client.getQueriesData<Found>({ queryKey: ["inbox"] })) {
    const found = data?.items.find((message) => message.id === id);
    if (found) return found;
  }
  return undefined;
}

/** A message whose reactions have changed. Where messages are work, its status follows its state. */
function settled(message: Message): Message {
  const isTerminal = ["published", "done", "rejected"].includes(message.workflow_state);
  return { ...message, status: isTerminal ? "done" : message.status === "done" ? "pending" : message.status };
}

/** Puts a message into the column of its state, on every board that has it, and out of the others. */
export function putCard(client: QueryClient, changed: Message): void {
  const message = settled(changed);
  const boards = new Set<unknown>();
  for (const [key, data] of client.getQueriesData<Columns>({ queryKey: ["board"] })) {
    if (data?.pages.some((page) => page.items.some((one) => one.id === message.id))) boards.add(key[1]);
  }
  for (const [key] of client.getQueriesData<Columns>({ queryKey: ["board"] })) {
    if (!boards.has(key[1])) continue;
    client.setQueryData<Columns>(key, (now) => now && withCard(now, message, key[2] === message.workflow_state));
  }
  client.setQueriesData<Found>({ queryKey: ["inbox"] }, (now) =>
    now?.items.some((one) => one.id === message.id)
      ? { ...now, items: now.items.map((one) => (one.id === message.id ? message : one)) }
      : now,
  );
}

function withCard(now: Columns, message: Message, isHere: boolean): Columns {
  const pages = now.pages.map((page) => ({ ...page, items: page.items.filter((one) => one.id !== message.id) }));
  if (isHere) {
    // Before the first that is older, or at the end of what is loaded.
    const place = pages.findIndex((page) => page.items.some((one) => one.id < message.id));
    const page = pages[place < 0 ? pages.length - 1 : place];
    if (page) page.items = [...page.items, message].sort((one, other) => other.id - one.id);
  }
  return { ...now, pages };
}

/** Puts what happened to a message into the boards. False if none of them knows it, so that it has to be loaded. */
export function moveCard(client: QueryClient, id: number, state: WorkflowState, reactions: ReactionView[]): boolean {
  const card = findCard(client, id);
  if (card) putCard(client, { ...card, reactions, workflow_state: state });
  return card !== undefined;
}
