/**
 * Characters that people cannot see, or that change the direction of writing. Programs and agents read them all the same, so the page
 * draws a mark for each.
 */
const HIDDEN = "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u2800\\ufff9-\\ufffb\\u{13430}-\\u{1343f}\\p{DI}]";

/** The flags of England, Scotland and Wales. Any other text in tag characters is hidden text. */
const TAGGED_FLAG =
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}";
const EMOJI = "\\p{ExtPict}(?:[\\ufe0e\\ufe0f]|\\p{EMod})?(?:\\u200d\\p{ExtPict}(?:\\ufe0f|\\p{EMod})?){0,8}";
const KEYCAP = "[0-9#*]\\ufe0f\\u20e3";
/** Between letters of Arabic script, and after a virama, a joiner changes what people see. */
const JOINED =
  "(?<=[\\u0620-\\u064a\\u066e-\\u06d3\\u06d5\\u06ee-\\u06ff\\u0750-\\u077f])\\u200c(?=[\\u0620-\\u064a\\u066e-\\u06d3\\u06d5\\u06ee-\\u06ff\\u0750-\\u077f])" +
  "|(?<=[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca])[\\u200c\\u200d](?=\\p{L})";

const ANY = new RegExp(HIDDEN, "u");
const RUNS = new RegExp(`${TAGGED_FLAG}|${EMOJI}|${KEYCAP}|${JOINED}|(${HIDDEN}+)`, "gu");

/** A part of a text: characters that are drawn, or hidden ones that follow each other. */
export interface Run {
  text: string;
  isHidden: boolean;
}

/** Splits a text into what is drawn and what is hidden. */
export function runsOf(text: string): Run[] {
  if (!ANY.test(text)) return text ? [{ text, isHidden: false }] : [];
  const runs: Run[] = [];
  let end = 0;
  for (const match of text.matchAll(RUNS)) {
    if (match[1] === undefined) continue;
    if (match.index > end) runs.push({ text: text.slice(end, match.index), isHidden: false });
    runs.push({ text: match[1], isHidden: true });
    end = match.index + match[1].length;
  }
  if (end < text.length) runs.push({ text: text.slice(end), isHidden: false });
  return runs;
}

export function hasHidden(text: string): boolean {
  return ANY.test(text) && runsOf(text).some(({ isHidden }) => isHidden);
}

/** The text without its hidden characters, to compare it with another. */
export function withoutHidden(text: string): string {
  return runsOf(text).map((run) => (run.isHidden ? "" : run.text)).join("");
}

export function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The words on the mark for some hidden characters that follow each other. */
export function labelOf(run: string): string {
  const characters = Array.from(run);
  const [first] = characters;
  if (!first || characters.some((one) => one !== first)) return `${characters.length} invisible`;
  return characters.length === 1 ? codeOf(first) : `${codeOf(first)} ×${characters.length}`;
}

/** The text with its hidden characters written out, for places that take only text. */
export function spelled(text: string): string {
  return runsOf(text).map((run) => (run.isHidden ? `[${labelOf(run.text)}]` : run.text)).join("");
}
