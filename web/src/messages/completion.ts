/** What is being typed that can be completed: a name after `@`, a channel after `#`. */
export interface Partial {
  kind: "name" | "channel";
  text: string;
  /** Where the sign is. */
  start: number;
}

export function partialAt(text: string, caret: number): Partial | null {
  const match = /(^|[\s(])([@#])([A-Za-z0-9_-]{0,64})$/.exec(text.slice(0, caret));
  if (!match) return null;
  const typed = match[3]!;
  return { kind: match[2] === "@" ? "name" : "channel", text: typed, start: caret - typed.length - 1 };
}

/** The text with the completed word, and where the caret is then. */
export function complete(text: string, caret: number, partial: Partial, word: string): { text: string; caret: number } {
  const sign = partial.kind === "name" ? "@" : "#";
  const before = `${text.slice(0, partial.start)}${sign}${word} `;
  return { text: before + text.slice(caret).replace(/^ /, ""), caret: before.length };
}
