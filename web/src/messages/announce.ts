import type { Message } from "../api/types";
import { briefOf } from "../lib/cut";
import { spelled } from "../lib/hidden";
import { fullName } from "../lib/names";

const LONGEST = 120;

/** What is said to whoever listens instead of looking, of messages that have just come: one in its words, several by their authors. */
export function announcementOf(messages: Message[]): string {
  const nameOf = (message: Message) => fullName(message.from);
  const [only] = messages;
  if (!only) return "";
  if (messages.length === 1) {
    // Cut first: a text may be very long.
    const body = only.body.slice(0, LONGEST * 10).replace(/\s+/g, " ").trim();
    return `${nameOf(only)}: ${spelled(briefOf(body, LONGEST))}`;
  }
  const names = [...new Set(messages.map(nameOf))];
  const shown = names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} others` : names.join(", ");
  return `${messages.length} new messages from ${shown}`;
}
