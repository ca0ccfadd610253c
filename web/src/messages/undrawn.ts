import type { Token } from "markdown-it";

import { wordsIn } from "../lib/words";

const LANGUAGE = /^[\w+#.-]{0,20}$/;

/** The language that is drawn above a block of code, by the words after its fence; undefined if they are something else. */
export function languageOf(info: string): string | undefined {
  const word = info.trim();
  return LANGUAGE.test(word) ? word : undefined;
}

/** An address that is longer can hold sentences. */
const LONGEST_HREF = 200;
const SHOWN_HREF = /^(?:https?:|mailto:|\/(?!\/)|#)/i;

/**
 * Whether blocks have text in their source that is not drawn: definitions of references, cells beyond the columns of a table, words beside
 * the language of a block of code, numbers that a list does not show, or what is nested too deep. All of these are words that no token has.
 */
export function hasUndrawnBlocks(source: string, tokens: readonly Token[]): boolean {
  let rest = wordsIn(source);
  const lists: Array<{ first: number; next: number }> = [];
  for (const { type, content, info } of tokens) {
    if (type === "inline" || type === "fence" || type === "code_block") rest -= wordsIn(content);
    if (type === "fence" && languageOf(info) !== undefined) rest -= wordsIn(info);
    if (type === "ordered_list_open" || type === "bullet_list_open") lists.push({ first: -1, next: -1 });
    if (type === "ordered_list_close" || type === "bullet_list_close") lists.pop();
    const list = lists.at(-1);
    if (type !== "list_item_open" || !info || !list) continue;
    // Browsers count on from the first number, whatever the others are. Many people write the same number before each item.
    const number = Number(info);
    if (list.first < 0) list.first = list.next = number;
    if (number === list.next || number === list.first) rest -= wordsIn(info);
    list.next += 1;
  }
  return rest > 0;
}

/** Whether a link or a picture has text in its source that is not drawn: a title, or an address that is cut off or holds a text. */
export function hasUndrawnTarget(token: Token): boolean {
  if (token.attrGet("title")) return true;
  const target = String(token.attrGet("href") ?? token.attrGet("src") ?? "");
  if (!SHOWN_HREF.test(target)) return true;
  // The address is its own text.
  if (token.info === "auto") return false;
  return target.length > LONGEST_HREF || /^mailto:[^?]*\?/i.test(target);
}
