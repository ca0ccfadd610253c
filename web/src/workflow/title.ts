import type { Message } from "../api/types";

const LONGEST = 140;
const BRIEF = 50;

/** A message in a line: its subject, or how it begins. */
export function titleOf(message: Message): string {
  const subject = message.subject?.trim();
  if (subject) return subject;
  const line = plain(message.body).split("\n").find((one) => one.trim() !== "")?.trim();
  if (line) return cut(line, LONGEST);
  return message.attachments[0]?.filename ?? `Message ${message.id}`;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;
}

/** The first words of it, for what is said in passing. */
export function briefly(message: Message): string {
  return cut(titleOf(message), BRIEF);
}

/** What an answer says of the message that it answers, if that is at hand. */
export function answerWords(parent: Message | undefined): string {
  if (!parent) return "in a thread";
  return `reply to ${parent.from.display_name || parent.from.name}${parent.deleted_at ? "" : `: ${titleOf(parent)}`}`;
}

/** What a message says after its title, in a few lines. */
export function restOf(message: Message): string {
  const lines = plain(message.body).split("\n").map((one) => one.trim()).filter(Boolean);
  return (message.subject?.trim() ? lines : lines.slice(1)).join(" ").slice(0, 600);
}

/** The words without their Markdown, for where there is no room for it. */
function plain(text: string): string {
  return text
    .slice(0, 4000)
    .replace(/^```.*$/gm, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+/gm, "")
    .replace(/(\*\*|__|~~|`)/g, "");
}
