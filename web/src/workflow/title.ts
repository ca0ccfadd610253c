import type { Message } from "../api/types";
import { spelled } from "../lib/hidden";
import { fullName } from "../lib/names";
import { wordsIn } from "../lib/words";

const LONGEST = 140;
const BRIEF = 50;
const REST = 400;

/** A message in a line: its subject, or how it begins. */
export function titleOf(message: Message): string {
  const subject = message.subject?.trim();
  if (subject) return spelled(subject);
  const [line] = linesOf(message);
  if (line) return spelled(cut(line, LONGEST));
  const file = message.attachments[0]?.filename;
  return file ? spelled(file) : `Message ${message.id}`;
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
  return `reply to ${fullName(parent.from)}${parent.deleted_at ? "" : `: ${titleOf(parent)}`}`;
}

/** What a message says after its title, in a few lines. */
export function restOf(message: Message): string {
  return spelled(restIn(message));
}

/** Whether a message says more than its title and the few lines after it show. */
export function isCutShort(message: Message): boolean {
  const [first = ""] = message.subject?.trim() ? [] : linesOf(message);
  return wordsIn(message.body) > wordsIn(cut(first, LONGEST)) + wordsIn(restIn(message));
}

function linesOf(message: Message): string[] {
  return plain(message.body).split("\n").map((one) => one.trim()).filter(Boolean);
}

function restIn(message: Message): string {
  const lines = linesOf(message);
  return (message.subject?.trim() ? lines : lines.slice(1)).join(" ").slice(0, REST);
}

/** The words without their Markdown, for where there is no room for it. */
function plain(text: string): string {
  return text
    .slice(0, 4000)
    .replace(/^```.*$/gm, "")
    // Each stops where the next may begin, so that no text takes long.
    .replace(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, "$1")
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+/gm, "")
    .replace(/(\*\*|__|~~|`)/g, "");
}
