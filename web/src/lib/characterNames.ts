/** The names of hidden characters. Few texts have any, so the names are loaded with the first that does. */

import { codeOf } from "./hidden";

/** Names of characters that follow each other, by the code of the first. */
const NAMES: Array<[number, string]> = [
  [0x00ad, "SOFT HYPHEN"],
  [0x034f, "COMBINING GRAPHEME JOINER"],
  [0x061c, "ARABIC LETTER MARK"],
  [0x115f, "HANGUL CHOSEONG FILLER|HANGUL JUNGSEONG FILLER"],
  [0x17b4, "KHMER VOWEL INHERENT AQ|KHMER VOWEL INHERENT AA"],
  [
    0x180b,
    "MONGOLIAN FREE VARIATION SELECTOR ONE|MONGOLIAN FREE VARIATION SELECTOR TWO|MONGOLIAN FREE VARIATION SELECTOR THREE|MONGOLIAN VOWEL SEPARATOR|MONGOLIAN FREE VARIATION SELECTOR FOUR",
  ],
  [0x200b, "ZERO WIDTH SPACE|ZERO WIDTH NON-JOINER|ZERO WIDTH JOINER|LEFT-TO-RIGHT MARK|RIGHT-TO-LEFT MARK"],
  [
    0x2028,
    "LINE SEPARATOR|PARAGRAPH SEPARATOR|LEFT-TO-RIGHT EMBEDDING|RIGHT-TO-LEFT EMBEDDING|POP DIRECTIONAL FORMATTING|LEFT-TO-RIGHT OVERRIDE|RIGHT-TO-LEFT OVERRIDE",
  ],
  [
    0x2060,
    "WORD JOINER|FUNCTION APPLICATION|INVISIBLE TIMES|INVISIBLE SEPARATOR|INVISIBLE PLUS||LEFT-TO-RIGHT ISOLATE|RIGHT-TO-LEFT ISOLATE|FIRST STRONG ISOLATE|POP DIRECTIONAL ISOLATE|INHIBIT SYMMETRIC SWAPPING|ACTIVATE SYMMETRIC SWAPPING|INHIBIT ARABIC FORM SHAPING|ACTIVATE ARABIC FORM SHAPING|NATIONAL DIGIT SHAPES|NOMINAL DIGIT SHAPES",
  ],
  [0x2800, "BRAILLE PATTERN BLANK"],
  [0x3164, "HANGUL FILLER"],
  [0xfeff, "ZERO WIDTH NO-BREAK SPACE"],
  [0xffa0, "HALFWIDTH HANGUL FILLER"],
  [0xfff9, "INTERLINEAR ANNOTATION ANCHOR|INTERLINEAR ANNOTATION SEPARATOR|INTERLINEAR ANNOTATION TERMINATOR"],
  [0xe0001, "LANGUAGE TAG"],
  [0xe007f, "CANCEL TAG"],
];

const names = new Map(NAMES.flatMap(([first, listed]) => listed.split("|").map((name, at): [number, string] => [first + at, name])));

const MOST_NAMES = 8;
const LONGEST_SPELLED = 500;

/** The ASCII character that a tag character stands for. */
function tagged(code: number): string {
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : "";
}

function nameOf(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0xa0) return "CONTROL CHARACTER";
  if (code >= 0xfe00 && code <= 0xfe0f) return `VARIATION SELECTOR-${code - 0xfe00 + 1}`;
  if (code >= 0xe0100 && code <= 0xe01ef) return `VARIATION SELECTOR-${code - 0xe0100 + 17}`;
  if (tagged(code)) return `TAG ${tagged(code)}`;
  return names.get(code) || "INVISIBLE CHARACTER";
}

/** What a mark stands for: the name of each character, and the words that tag characters spell. */
export function describeRun(run: string): string {
  const counts = new Map<string, number>();
  let spelledOut = "";
  for (const character of run) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
    if (spelledOut.length < LONGEST_SPELLED) spelledOut += tagged(character.codePointAt(0)!);
  }
  const all = [...counts].map(([character, count]) => `${nameOf(character)} (${codeOf(character)})${count > 1 ? ` ×${count}` : ""}`);
  const rest = all.length > MOST_NAMES ? ` and ${all.length - MOST_NAMES} more` : "";
  return `${all.slice(0, MOST_NAMES).join(", ")}${rest}${spelledOut ? `. They spell: “${spelledOut}”` : ""}`;
}
