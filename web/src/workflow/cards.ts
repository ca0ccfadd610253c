import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import type { ColumnPage, Found, ReactionView } from "../api/workflow";
import type { Message, WorkflowState } from "../api/types";

type Columns = InfiniteData<ColumnPage, ColumnPage["next"]>;

/** A message from the boards or the inbox, if one of them shows it. */
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

/** A message with the status that follows from its workflow state. */
export function settled(message: Message): Message {
  const isTerminal = ["published", "done", "rejected"].includes(message.workflow_state ?? "");
  return { ...message, status: isTerminal ? "done" : message.status === "done" ? "pending" : message.status };
}

/** Moves a message into the column of its state on every board that has it, and updates it in the inbox. */
export function putCard(client: QueryClient, message: Message): void {
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
    // Before the first older card, or at the end of the loaded cards.
    const place = pages.findIndex((page) => page.items.some((one) => one.id < message.id));
    const page = pages[place < 0 ? pages.length - 1 : place];
    if (page) page.items = [...page.items, message].sort((one, other) => other.id - one.id);
  }
  return { ...now, pages };
}

/** Updates a message on the boards. Returns false if none of them has it, so that it must be loaded. */
export function moveCard(client: QueryClient, id: number, state: WorkflowState, reactions: ReactionView[]): boolean {
  const card = findCard(client, id);
  if (card) putCard(client, settled({ ...card, reactions, workflow_state: state }));
  return card !== undefined;
}
