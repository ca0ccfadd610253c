import type { Conversation } from "../api/queries";
import type { Message } from "../api/types";
import { merge } from "./cache";

/** A conversation with what was loaded before its first message. */
export function withOlder(now: Conversation, older: Message[]): Conversation {
  return {
    ...now,
    items: merge(now.items, older),
    hasOlder: older.length > 0,
    starts: [...now.starts, ...older.slice(0, 1).map(({ id }) => id)],
  };
}

/** The end of a conversation together with a part from before it, or null while messages between them are missing. */
export function joined(end: Conversation, part: Conversation): Conversation | null {
  const first = end.items[0]?.id ?? Number.POSITIVE_INFINITY;
  const last = part.items.at(-1)?.id ?? 0;
  if (part.hasNewer && last < first) return null;
  const isBefore = (part.items[0]?.id ?? first) < first;
  return {
    ...end,
    items: merge(end.items, part.items),
    hasOlder: isBefore ? part.hasOlder : end.hasOlder,
    starts: [...end.starts, ...part.starts],
  };
}
