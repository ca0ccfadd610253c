/** What is longer than this is not all shown at once: a conversation is read past it, and a browser works on it for long. */
const LONG = 16_000;

/** The beginning of a text that is very long, up to the end of a line or a word; any other text as it is. */
export function beginningOf(text: string): string {
  if (text.length <= LONG) return text;
  const start = text.slice(0, LONG);
  const end = Math.max(start.lastIndexOf("\n"), start.lastIndexOf(" "));
  // Not in the middle of a character, either.
  return end > LONG / 2 ? start.slice(0, end) : start.replace(/[\ud800-\udbff]$/, "");
}
