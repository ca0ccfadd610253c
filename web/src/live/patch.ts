import type { InfiniteData, QueryClient } from "@tanstack/react-query";

import { type Presence, type RevisedAgent, agentQuery, agentsQuery } from "../api/agents";
import { api, ok } from "../api/client";
import { Problem } from "../api/problem";
import { type Conversation, conversationQuery, fetchMessages, messageQuery, threadsQuery } from "../api/queries";
import type { SearchPage } from "../api/search";
import { type Agent, type Me, type Message, type Place, type WorkflowState, placeKey } from "../api/types";
import type { ReactionView } from "../api/workflow";
import { findCard, moveCard, putCard } from "./cards";
import { soon } from "./soon";
import type { LiveEvent } from "./stream";

/** Puts what happened into what is shown, so that nothing has to be loaded again. */
export function patch(client: QueryClient, event: LiveEvent): void {
  const { name, data } = event;
  const text = (field: string) => (typeof data[field] === "string" ? (data[field] as string) : undefined);
  const number = (field: string) => (typeof data[field] === "number" ? (data[field] as number) : undefined);
  switch (name) {
    case "new_message": {
      for (const place of placesOf(client, data)) void append(client, place);
      const parent = number("reply_to");
      if (parent !== undefined) {
        soon(client, "replies", parent);
        soon(client, "threads");
        changeMessage(client, parent, (message) => ({ ...message, reply_count: message.reply_count + 1 }));
        const card = findCard(client, parent);
        if (card) putCard(client, { ...card, reply_count: card.reply_count + 1 });
      }
      if (!text("channel")) soon(client, "partners");
      else if (parent === undefined) soon(client, "board");
      soon(client, "inbox");
      break;
    }
    case "message_updated":
    case "message_deleted":
    case "reaction": {
      const id = number("message_id");
      if (id !== undefined) void refresh(client, id);
      soon(client, "inbox");
      if (name === "reaction") {
        const state = text("workflow_state") as WorkflowState | undefined;
        const reactions = Array.isArray(data["reactions"]) ? (data["reactions"] as ReactionView[]) : undefined;
        const isKnown = id !== undefined && state && reactions && moveCard(client, id, state, reactions);
        // What is being loaded may be from before.
        if (!isKnown || client.isFetching({ queryKey: ["board"] }) > 0) soon(client, "board");
        soon(client, "trust");
      } else if (id !== undefined && text("status") === undefined && findCard(client, id)) {
        soon(client, "board");
      }
      break;
    }
    case "unread_update":
      soon(client, "unread");
      soon(client, "threads");
      if (text("kind") === "dm") soon(client, "partners");
      break;
    case "channel":
      soon(client, "channels");
      soon(client, "channel", text("name") ?? "");
      // An agent that is taken away leaves all channels, and nothing else tells of it.
      if (text("change") === "member_removed" && client.getQueryData<Me>(["me"])?.agents.some((agent) => agent.name === text("member"))) {
        for (const shown of ["agent", "agents", "me"]) soon(client, shown);
      }
      break;
    case "attention":
      soon(client, "inbox");
      // What waits for somebody may be that an agent was stopped.
      soon(client, "agent");
      soon(client, "agents");
      break;
    case "presence":
      seen(client, text("name"), data["online"] === true, text("last_seen_at"));
      break;
    case "resync":
      // A part from the middle may have grown since it was loaded, and would shrink.
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "conversation" || queryKey.length < 3 });
      break;
  }
}

/** Notes that somebody came or went. */
function seen(client: QueryClient, name: string | undefined, isOnline: boolean, lastSeenAt: string | undefined): void {
  if (name === undefined || lastSeenAt === undefined) return;
  const presence: Presence = { isOnline, lastSeenAt };
  client.setQueryData<Presence | null>(["presence", name], presence);
  const noted = (agent: Agent): Agent => (agent.name === name ? { ...agent, last_seen_at: lastSeenAt } : agent);
  client.setQueryData<Agent[]>(agentsQuery.queryKey, (now) => now?.map(noted));
  client.setQueryData<RevisedAgent>(agentQuery(name).queryKey, (now) => now && { ...now, agent: noted(now.agent) });
}

/** The conversations on the page that a new message belongs to. */
function placesOf(client: QueryClient, data: Record<string, unknown>): Place[] {
  if (typeof data["channel"] === "string") return [{ kind: "channel", name: data["channel"] }];
  const me = client.getQueryData<Me>(["me"]);
  const from = (data["from"] as { name?: string } | undefined)?.name;
  const to = data["to"];
  if (!me || typeof from !== "string" || typeof to !== "string") return [];
  const own = [me.user.username, ...me.agents.map((agent) => agent.name)];
  const seenBy = (self: string, other: string): Place[] => {
    if (self === me.user.username) return [{ kind: "dm", name: other }];
    return own.includes(self) ? [{ kind: "dm", name: other, as: self }] : [];
  };
  return [...seenBy(from, to), ...seenBy(to, from)];
}

const MOST_AT_ONCE = 200;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;
/** Conversations that are being brought up to date, and whether more has been told of them since. */
const appending = new Map<string, boolean>();

/** Loads what came after the last message that is there. What is told meanwhile is loaded after that, all of it at once. */
async function append(client: QueryClient, place: Place): Promise<void> {
  const { queryKey } = conversationQuery(place);
  const key = placeKey(place);
  if (appending.has(key)) return void appending.set(key, true);
  let pause = FIRST_PAUSE;
  try {
    for (;;) {
      appending.set(key, false);
      // What is just being loaded may have been looked up before that which is told now.
      const loading = client.getQueryCache().find<Conversation>({ queryKey });
      if (loading?.state.fetchStatus === "fetching") await loading.promise?.catch(() => undefined);
      const known = client.getQueryData<Conversation>(queryKey);
      if (!known) return;
      const after = known.items.at(-1)?.id;
      try {
        const page = await fetchMessages(place, after === undefined ? {} : { after, limit: MOST_AT_ONCE });
        addMessages(client, place, page.items);
        pause = FIRST_PAUSE;
        const isFull = after !== undefined && page.items.length >= MOST_AT_ONCE;
        if (!isFull && appending.get(key) !== true) return;
      } catch (error) {
        // Nobody tells of it again, so it is asked for until it comes; unless it is refused.
        if (!(error instanceof Problem && error.isPassing)) return void client.invalidateQueries({ queryKey, exact: true });
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    }
  } finally {
    appending.delete(key);
  }
}

/** Loads what happened after the page was loaded and before it was told of anything. */
export function catchUp(client: QueryClient): void {
  for (const { meta } of client.getQueryCache().findAll({ queryKey: ["conversation"] })) {
    if (meta?.["place"]) void append(client, meta["place"] as Place);
  }
  void client.invalidateQueries({ queryKey: ["unread"] });
}

/** Puts messages into a conversation, each once and in order. */
export function addMessages(client: QueryClient, place: Place, messages: Message[]): void {
  const { queryKey } = conversationQuery(place);
  client.setQueryData<Conversation>(queryKey, (now) => now && { ...now, items: merge(now.items, messages) });
}

export function merge(known: Message[], added: Message[]): Message[] {
  if (added.length === 0) return known;
  const last = known.at(-1)?.id ?? 0;
  // Most often it is news, which comes in order.
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

/** Messages that the person is reacting to, and whether something was told of them meanwhile: the answer says more than what is told before it. */
export const reacting = new Map<number, boolean>();
/** Messages that are being loaded anew, and whether something was told of them meanwhile. */
const asked = new Map<number, boolean>();
/** What much is told of is loaded this often at most. */
const REFRESH_MS = 250;

/** Loads a message anew, if it is shown anywhere. */
export async function refresh(client: QueryClient, id: number): Promise<void> {
  const has = (messages: Message[] | undefined) => messages?.some((message) => message.id === id) ?? false;
  const isShown =
    client.getQueriesData<Conversation>({ queryKey: ["conversation"] }).some(([, data]) => has(data?.items)) ||
    client.getQueriesData<Message[]>({ queryKey: ["replies"] }).some(([, data]) => has(data)) ||
    has(client.getQueryData(threadsQuery.queryKey)?.items.map(({ message }) => message)) ||
    client.getQueryData(messageQuery(id).queryKey) !== undefined;
  // What was found may not be found any more.
  const isFound = client
    .getQueriesData<InfiniteData<SearchPage>>({ queryKey: ["search"] })
    .some(([, data]) => data?.pages.some((page) => has(page.items)));
  if (isFound) soon(client, "search");
  if (!isShown) return;
  if (reacting.has(id)) return void reacting.set(id, true);
  if (asked.has(id)) return void asked.set(id, true);
  asked.set(id, false);
  const fresh = await ok(api.GET("/api/messages/{id}", { params: { path: { id } } })).catch(() => null);
  // One that was told of since may have been loaded from before.
  const wasTold = asked.get(id) === true;
  if (wasTold) await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  asked.delete(id);
  if (reacting.has(id)) reacting.set(id, true);
  else if (wasTold) await refresh(client, id);
  else if (fresh) changeMessage(client, id, () => fresh);
}
