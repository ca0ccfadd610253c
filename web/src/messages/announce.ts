import type { Message } from "../api/types";

const LONGEST = 120;

/** What is said to whoever listens instead of looking, of messages that have just come: one in its words, several by their authors. */
export function announcementOf(messages: Message[]): string {
  const nameOf = (message: Message) => message.from.display_name || message.from.name;
  const [only] = messages;
  if (!only) return "";
  if (messages.length === 1) {
    const body = only.body.replace(/\s+/g, " ").trim();
    return `${nameOf(only)}: ${body.length > LONGEST ? `${body.slice(0, LONGEST)}…` : body}`;
  }
  const names = [...new Set(messages.map(nameOf))];
  const shown = names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${names.length - 2} others` : names.join(", ");
  return `${messages.length} new messages from ${shown}`;
}
