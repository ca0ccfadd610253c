import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";
import type { Message } from "./types";

export type AttachmentDetails = components["schemas"]["AttachmentDetails"];

/** What the person has uploaded, the latest first. */
export const attachmentsQuery = infiniteQueryOptions({
  queryKey: ["attachments", "list"],
  queryFn: ({ pageParam }) => ok(api.GET("/api/attachments", { params: { query: { limit: 50, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export interface References {
  /** The messages that have a file, by its sum, the latest first. */
  messages: Map<string, Message[]>;
  /** Whether these are all that the person sees. */
  isWhole: boolean;
}

/** The latest messages that have files. */
export const referencesQuery = queryOptions({
  queryKey: ["attachments", "references"],
  queryFn: async (): Promise<References> => {
    const page = await ok(api.GET("/api/messages/search", { params: { query: { has: "attachment", limit: 200 } } }));
    const messages = new Map<string, Message[]>();
    for (const message of page.items) {
      for (const { sha256 } of message.attachments) messages.set(sha256, [...(messages.get(sha256) ?? []), message]);
    }
    return { messages, isWhole: page.total <= page.items.length };
  },
});
