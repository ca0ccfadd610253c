import type { Message } from "../api/types";
import { briefOf } from "../lib/cut";
import { spelled } from "../lib/hidden";
import { fullName } from "../lib/names";
import { wordsIn } from "../lib/words";

const LONGEST = 140;
const BRIEF = 50;
const REST = 400;
/** So much of a text is looked at. No title and no preview needs more, however many messages are listed. */
const MOST_READ = 600;

/** What a message says in places without room for all of it. */
interface Gist {
  title: string;
  rest: string;
  isCutShort: boolean;
}

/** Each message is an object of its own, and one that has changed is another. */
const known = new WeakMap<Message, Gist>();

function gistOf(message: Message): Gist {
  const found = known.get(message);
  if (found) return found;
  const subject = message.subject?.trim();
  const lines = linesOf(message.body);
  const first = subject ? "" : (lines[0] ?? "");
  const rest = (subject ? lines : lines.slice(1)).join(" ").slice(0, REST);
  const file = message.attachments?.[0]?.filename;
  const gist = {
    title: spelled(subject ? briefOf(subject, REST) : briefOf(first || file || `Message ${message.id}`, LONGEST - 1)),
    rest: spelled(briefOf(rest, REST)),
    isCutShort: message.body.length > MOST_READ * 2 || wordsIn(message.body) > wordsIn(cut(first, LONGEST)) + wordsIn(rest),
  };
  known.set(message, gist);
  return gist;
}

/** A message in a line: its subject, or how it begins. */
export function titleOf(message: Message): string {
  return gistOf(message).title;
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
  return gistOf(message).rest;
}

/** Whether a message says more than its title and the few lines after it show. */
export function isCutShort(message: Message): boolean {
  return gistOf(message).isCutShort;
}

/** The lines of a text without their Markdown, for where there is no room for it. */
function linesOf(text: string): string[] {
  return (
    text
      .slice(0, MOST_READ)
      .replace(/^```.*$/gm, "")
      // Each stops where the next may begin, and at the end of a line, so that no text takes long.
      .replace(/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, "$1")
      .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+/gm, "")
      .replace(/(\*\*|__|~~|`)/g, "")
      .split("\n")
      .map((one) => one.trim())
      .filter(Boolean)
  );
}
