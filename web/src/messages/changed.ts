/** The part of a text that another one does not have. */
export interface Change {
  start: number;
  end: number;
}

const isSpace = (text: string, at: number) => at <= 0 || at >= text.length || /\s/.test(text[at]!) || /\s/.test(text[at - 1]!);

/** What of a text is new, compared with the text before: all but the words that both begin and end with. */
export function changedPart(before: string, now: string): Change {
  const most = Math.min(before.length, now.length);
  let start = 0;
  while (start < most && before[start] === now[start]) start++;
  let same = 0;
  while (same < most - start && before[before.length - 1 - same] === now[now.length - 1 - same]) same++;
  let end = now.length - same;
  // Whole words, which also keeps characters of two halves whole.
  while (start > 0 && !isSpace(now, start)) start--;
  while (end < now.length && !isSpace(now, end)) end++;
  return { start, end: Math.max(start, end) };
}
