import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { api, ok, repeatKey } from "./client";
import { Problem } from "./problem";
import type { components } from "./schema";
import type { Message, WorkflowState } from "./types";

type Schemas = components["schemas"];

export type Reaction = Schemas["Reaction"];
export type ReactionView = Schemas["ReactionView"];
export type Reactions = Schemas["ReactionsView"];

/** The work of one channel, or of several. */
export type Scope = { kind: "channel"; name: string } | { kind: "all"; channels: readonly string[] };

/** A part of a column, and where the next one begins. */
export interface ColumnPage {
  items: Message[];
  next: string | number | null;
}

const COLUMN_PAGE = 50;
/** As many names as a search takes. */
export const MOST_CHANNELS = 50;

export function scopeKey(scope: Scope): string {
  return scope.kind === "channel" ? `channel:${scope.name}` : `all:${scope.channels.join(",")}`;
}

/** Work in one state, newest first. The key ends with the state: what happens is put into the columns by it. */
export const columnQuery = (scope: Scope, state: WorkflowState) =>
  infiniteQueryOptions({
    queryKey: ["board", scopeKey(scope), state],
    queryFn: ({ pageParam }): Promise<ColumnPage> =>
      scope.kind === "channel" ? ofChannel(scope.name, state, pageParam) : ofAll(scope.channels, state, pageParam),
    initialPageParam: null as ColumnPage["next"],
    getNextPageParam: (page) => page.next,
    enabled: scope.kind === "channel" || scope.channels.length > 0,
    staleTime: 60_000,
  });

async function ofChannel(name: string, state: WorkflowState, cursor: ColumnPage["next"]): Promise<ColumnPage> {
  const query = { state, limit: COLUMN_PAGE, cursor: cursor === null ? undefined : String(cursor) };
  const page = await ok(api.GET("/api/channels/{name}/messages/by-state", { params: { path: { name }, query } }));
  return { items: page.items, next: page.next_cursor ?? null };
}

/** Of all channels at once by searching for the state: a request for each channel and column would be many. */
async function ofAll(channels: readonly string[], state: WorkflowState, from: ColumnPage["next"]): Promise<ColumnPage> {
  const offset = Number(from ?? 0);
  const page = await find({ state, channel: channels.slice(0, MOST_CHANNELS).join(","), offset, limit: COLUMN_PAGE });
  const next = offset + page.items.length;
  return { items: page.items.filter(isListed), next: page.items.length > 0 && next < page.total ? next : null };
}

/** Answers to which nobody has reacted are talk about work, not work. */
function isListed(message: Message): boolean {
  return message.workflow_state !== "proposed" || (message.reply_to ?? null) === null;
}

/** Turns a message into work of a kind, or into talk. */
export function setKind(id: number, kind: string | null): Promise<Message> {
  return ok(api.PATCH("/api/messages/{id}", { params: { path: { id } }, body: { action_type: kind } }));
}

function find(query: { state?: string; has?: string; channel?: string; offset?: number; limit: number }) {
  return ok(api.GET("/api/messages/search", { params: { query } }));
}

/** What was found, and whether there is more than that. */
export interface Found {
  items: Message[];
  hasMore: boolean;
}

/** As many as the hub gives at once. */
const MOST = 200;

async function found(query: { state?: string; has?: string; channel?: string }): Promise<Found> {
  const page = await find({ ...query, limit: MOST });
  return { items: page.items, hasMore: page.total > page.items.length };
}

async function foundWork(query: { state: string; channel?: string }): Promise<Found> {
  const { items, hasMore } = await found(query);
  return { items: items.filter(isListed), hasMore };
}

/** Everything that somebody has claimed. */
export const claimsQuery = queryOptions({
  queryKey: ["inbox", "claims"],
  queryFn: () => foundWork({ state: "in_progress" }),
});

/** What is proposed or approved in some channels, and nobody works on. */
export const openWorkQuery = (channels: readonly string[]) =>
  queryOptions({
    queryKey: ["inbox", "open", channels],
    queryFn: () => foundWork({ state: "proposed,approved", channel: channels.slice(0, MOST_CHANNELS).join(",") }),
    enabled: channels.length > 0,
    // Where news come from one more channel, what is there stays until it is known.
    placeholderData: keepPreviousData,
  });

/** Messages that call somebody, in some channels, answers among them. */
export const mentionsQuery = (channels: readonly string[]) =>
  queryOptions({
    queryKey: ["inbox", "mentions", channels],
    queryFn: () => found({ has: "mention", channel: channels.slice(0, MOST_CHANNELS).join(",") }),
    enabled: channels.length > 0,
    // Where news come from one more channel, what is there stays until it is known.
    placeholderData: keepPreviousData,
  });

/** A message as the person has read it: `edited_at` says which of its texts that was. */
export type ReadMessage = Pick<Message, "id" | "edited_at">;

/** Adds a reaction of one's own to the text that one has read. The hub refuses it if the message has another text by now. */
export async function addReaction({ id, edited_at }: ReadMessage, reaction: Reaction): Promise<Reactions> {
  const post = () =>
    ok(
      api.POST("/api/messages/{id}/reactions", {
        params: { path: { id }, header: { "Idempotency-Key": repeatKey() } },
        body: { reaction, edited_at: edited_at ?? null },
      }),
    ).catch((error: unknown) => {
      const isEdited = error instanceof Problem && error.code === "edited_meanwhile";
      throw isEdited ? new Problem(error.status, error.code, "This message was edited while you were reading it. Review it again.") : error;
    });
  const answer = await post();
  // The same reaction once more takes it back. Where it was there already, in another tab perhaps, it is wanted still.
  return answer.action === "added" ? answer : post();
}

/** Takes a reaction of one's own back. */
export async function removeReaction(id: number, reaction: Reaction): Promise<Reactions> {
  const params = { path: { id }, query: { reaction } };
  try {
    return await ok(api.DELETE("/api/messages/{id}/reactions", { params }));
  } catch (error) {
    // It may be gone already; then all is as it is wanted.
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    return ok(api.GET("/api/messages/{id}/reactions", { params: { path: { id } } }));
  }
}

/** Removes a reaction of somebody else. */
export function removeReactionOf(id: number, reaction: Reaction, by: string): Promise<Reactions> {
  return ok(api.DELETE("/api/messages/{id}/reactions", { params: { path: { id }, query: { reaction, by } } }));
}

/** Says in the thread of a message why it was rejected. In a channel its author is called: only so does an agent find it in its inbox. */
export async function sayWhy(message: Message, reason: string): Promise<void> {
  const place = message.channel ? { channel: message.channel } : { to: message.from.name };
  const text = message.channel ? `@${message.from.name} ${reason}` : reason;
  const body = { ...place, body: text, reply_to: message.id } as Schemas["SendMessageRequest"];
  await ok(api.POST("/api/messages", { params: { header: { "Idempotency-Key": repeatKey() } }, body }));
}

/** How far one has read: up to a message, or up to the last one. */
export async function markRead(place: { kind: "channel" | "dm"; name: string }, messageId?: number): Promise<void> {
  const where = place.kind === "channel" ? { channel: place.name } : { dm: place.name };
  await ok(api.POST("/api/notifications/mark-read", { body: { ...where, message_id: messageId } }));
}
