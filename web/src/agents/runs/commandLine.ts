/** A line split into words, or what is wrong with it. */
export type Words = { words: string[]; error?: undefined } | { words?: undefined; error: string };

/**
 * Splits a line into words as a shell does, and does nothing else that a shell does: no variables, no patterns, no pipes. Quotes and
 * backslashes keep spaces within a word.
 */
export function splitWords(line: string): Words {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!;
    if (quote === "'") {
      if (sign === "'") quote = null;
      else word += sign;
    } else if (sign === "\\") {
      if (at + 1 >= line.length) return { error: "Remove the backslash at the end" };
      const next = line[++at]!;
      // Between double quotes, a backslash stands for itself before most signs.
      word = (word ?? "") + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next);
    } else if (quote === '"') {
      if (sign === '"') quote = null;
      else word += sign;
    } else if (sign === "'" || sign === '"') {
      quote = sign;
      word ??= "";
    } else if (sign === " " || sign === "\t" || sign === "\n") {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + sign;
    }
  }
  if (quote) return { error: `A ${quote} is not closed` };
  if (word !== null) words.push(word);
  return { words };
}

const SAFE = /^[\w@%+=:,./-]+$/;

/** A line that `splitWords` splits into the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (SAFE.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** Words that only a shell would understand. The program gets them as they are. */
export function shellWords(words: readonly string[]): string[] {
  return words.filter((word) => /^(?:[|<>&;]+|\d?>.*)$/.test(word) || /^[~$]/.test(word));
}
