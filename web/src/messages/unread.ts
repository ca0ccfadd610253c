import type { Conversation } from "../api/queries";

/** How far the person had read: null if nothing counts as unread for them. Who is a member and has never been here has read nothing. */
export function readUpTo({ lastRead, items }: Conversation, isMember: boolean | undefined): number | null {
  return lastRead ?? (isMember && items.length > 0 ? 0 : null);
}

/** The same, if the first unread message is not loaded. */
export function farUnread({ hasOlder, items }: Conversation, after: number | null | undefined): number | undefined {
  return typeof after === "number" && hasOlder && (items[0]?.id ?? 0) > after ? after : undefined;
}
