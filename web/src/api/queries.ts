import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { Channel, Message, Place } from "./types";
import { placeKey } from "./types";

/** What is loaded of a conversation, oldest first. */
export interface Conversation {
  items: Message[];
  hasOlder: boolean;
  /** It is a part from the middle: others come after it that are not loaded. */
  hasNewer?: boolean;
  lastRead: number | null;
  /** The first messages of what was loaded at a time. They keep their looks when more comes before them, so that nothing moves. */
  starts: number[];
}

export const PAGE = 50;

export const meQuery = queryOptions({ queryKey: ["me"], queryFn: () => ok(api.GET("/auth/me")), staleTime: 60_000 });

export const unreadQuery = queryOptions({
  queryKey: ["unread"],
  queryFn: () => ok(api.GET("/api/notifications/unread")),
});

export const partnersQuery = queryOptions({
  queryKey: ["partners"],
  queryFn: () => ok(api.GET("/api/dm/partners")),
});

/** All channels that the person sees, page by page. */
export const channelsQuery = queryOptions({
  queryKey: ["channels"],
  queryFn: async () => {
    const channels: Channel[] = [];
    let cursor: string | undefined;
    do {
      const page = await ok(api.GET("/api/channels", { params: { query: { limit: 200, cursor } } }));
      channels.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    return channels;
  },
});

const sets = new WeakMap<readonly Channel[], ReadonlySet<string>>();

/** The names of channels, to look one up. There may be thousands, and each text may name many. */
export function channelNames(channels: readonly Channel[]): ReadonlySet<string> {
  const names = sets.get(channels) ?? new Set(channels.map(({ name }) => name));
  sets.set(channels, names);
  return names;
}

export const channelQuery = (name: string) =>
  queryOptions({
    queryKey: ["channel", name],
    queryFn: () => ok(api.GET("/api/channels/{name}", { params: { path: { name } } })),
  });

export const messageQuery = (id: number) =>
  queryOptions({
    queryKey: ["message", id],
    queryFn: () => ok(api.GET("/api/messages/{id}", { params: { path: { id } } })),
  });

export const repliesQuery = (id: number) =>
  queryOptions({
    queryKey: ["replies", id],
    queryFn: async () => {
      const replies: Message[] = [];
      let cursor: string | undefined;
      do {
        const params = { path: { id }, query: { limit: 200, cursor } };
        const page = await ok(api.GET("/api/messages/{id}/replies", { params }));
        replies.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      return replies;
    },
  });

export const threadsQuery = queryOptions({
  queryKey: ["threads"],
  queryFn: () => ok(api.GET("/api/threads", { params: { query: { limit: 100 } } })),
});

/** How many runs of the person's agents are under way. */
export const runningQuery = queryOptions({
  queryKey: ["runs", "running"],
  queryFn: async () => (await ok(api.GET("/api/runs", { params: { query: { status: "running", limit: 1 } } }))).total,
});

/** A part of a conversation. */
export async function fetchMessages(place: Place, range: { before?: number; after?: number; limit?: number }) {
  const query = { limit: PAGE, ...range };
  if (place.kind === "channel") {
    const params = { path: { name: place.name }, query };
    return ok(api.GET("/api/channels/{name}/messages", { params }));
  }
  const params = { path: { name: place.name }, query: { ...query, as: place.as } };
  return ok(api.GET("/api/dm/{name}/messages", { params }));
}

export const conversationQuery = (place: Place) =>
  queryOptions({
    queryKey: ["conversation", placeKey(place)],
    queryFn: async (): Promise<Conversation> => {
      const page = await fetchMessages(place, {});
      return {
        items: page.items,
        hasOlder: page.items.length >= PAGE,
        lastRead: page.last_read_message_id ?? null,
        starts: page.items.slice(0, 1).map(({ id }) => id),
      };
    },
    meta: { place },
    // What is there is kept up to date by the events.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What is around a message, however far back it is. It is not kept up to date, unless it is joined with the end of the conversation. */
export const aroundQuery = (place: Place, id: number) =>
  queryOptions({
    queryKey: ["conversation", placeKey(place), id],
    queryFn: async (): Promise<Conversation> => {
      // Nothing is before the beginning.
      const earlier = id > 0 ? fetchMessages(place, { before: id + 1 }) : undefined;
      const [before, after] = await Promise.all([earlier, fetchMessages(place, { after: id })]);
      const items = [...(before?.items ?? []), ...after.items];
      return {
        items,
        hasOlder: before !== undefined && before.items.length >= PAGE,
        hasNewer: after.items.length >= PAGE,
        lastRead: after.last_read_message_id ?? null,
        starts: items.slice(0, 1).map((first) => first.id),
      };
    },
    // It may have grown since it was loaded, and would shrink if it were loaded again.
    meta: { isKeptOnResync: true },
    staleTime: Number.POSITIVE_INFINITY,
    // Each is for one visit.
    gcTime: 0,
  });
