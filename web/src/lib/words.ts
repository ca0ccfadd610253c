/** Spaces and the signs that Markdown is made of. What remains are words. */
const SIGNS = /[\s!-/:-@[-`{-~]+/g;

/** How many characters of words a text has. By that, two forms of a text can be compared. */
export function wordsIn(text: string): number {
  return text.replace(SIGNS, "").length;
}
