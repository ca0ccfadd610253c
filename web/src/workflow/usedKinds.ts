import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import type { Conversation } from "../api/queries";
import type { Trust } from "../api/trust";
import type { Message } from "../api/types";
import type { ColumnPage } from "../api/workflow";
import { kindOf } from "../messages/work";

/** Kinds of work in use: in the messages of a channel and in the trust of agents, as far as the page has loaded them. */
export function usedKinds(client: QueryClient, channel: string): Set<string> {
  const messages: Message[] = [];
  for (const [, data] of client.getQueriesData<Conversation>({ queryKey: ["conversation"] })) messages.push(...(data?.items ?? []));
  for (const [, data] of client.getQueriesData<InfiniteData<ColumnPage>>({ queryKey: ["board"] })) {
    for (const page of data?.pages ?? []) messages.push(...page.items);
  }
  const kinds = new Set<string>();
  for (const message of messages) {
    const kind = message.channel === channel ? kindOf(message) : undefined;
    if (kind !== undefined) kinds.add(kind);
  }
  for (const [, trust] of client.getQueriesData<Trust[]>({ queryKey: ["trust"] })) {
    for (const { action_type } of trust ?? []) kinds.add(action_type);
  }
  return kinds;
}
