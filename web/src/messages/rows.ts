import type { Message } from "../api/types";
import { dayOf } from "../lib/time";
import type { Outgoing } from "./outbox";

/** A line of a conversation. */
export type Row =
  | { kind: "day"; key: string; at: string }
  | { kind: "unread"; key: string; count: number; since: string }
  | { kind: "message"; key: string; message: Message; isContinued: boolean }
  | { kind: "outgoing"; key: string; outgoing: Outgoing };

/** Messages of one author this close together are one turn. */
const TURN_MS = 5 * 60_000;

/**
 * The lines that a conversation is shown in. `unreadAfter` is how far the person had read when they came. If older messages are not loaded,
 * the first unread one may be among them.
 */
export function rowsOf(
  messages: Message[],
  outgoing: Outgoing[],
  unreadAfter: number | null,
  me: string | undefined,
  starts: number[] = [],
  hasOlder = false,
): Row[] {
  const rows: Row[] = [];
  let before: Message | null = null;
  const isNew = (message: Message) => unreadAfter !== null && message.id > unreadAfter && message.from.name !== me;
  const firstNew = messages.find(isNew);
  for (const message of messages) {
    const isNewDay: boolean = before === null || dayOf(before.created_at) !== dayOf(message.created_at);
    if (message === firstNew && (message !== messages[0] || !hasOlder)) {
      const count = messages.filter(isNew).length;
      rows.push({ kind: "unread", key: "unread", count, since: message.created_at });
    }
    if (isNewDay) rows.push({ kind: "day", key: `day ${dayOf(message.created_at)}`, at: message.created_at });
    const isContinued: boolean =
      !isNewDay &&
      message !== firstNew &&
      before !== null &&
      !starts.includes(message.id) &&
      before.deleted_at === message.deleted_at &&
      before.from.name === message.from.name &&
      // A reply that reports a failure may be a line without a head.
      before.metadata["failed"] !== true &&
      before.reply_to === message.reply_to &&
      !message.subject &&
      Date.parse(message.created_at) - Date.parse(before.created_at) < TURN_MS;
    rows.push({ kind: "message", key: `m${message.id}`, message, isContinued });
    before = message;
  }
  for (const one of outgoing) rows.push({ kind: "outgoing", key: one.key, outgoing: one });
  return rows;
}
