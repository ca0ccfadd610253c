import { endOf } from "../../lib/cut";

const SIGNS: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/**
 * The parts of a snippet, and which of them were found. The hub sends HTML in which nothing but the marks is markup; it is read as text
 * all the same, so that nothing here depends on it.
 */
export function partsOf(snippet: string): Array<{ text: string; isFound: boolean }> {
  const parts: Array<{ text: string; isFound: boolean }> = [];
  let isFound = false;
  for (const piece of snippet.split(/(<\/?mark>)/)) {
    if (piece === "<mark>" || piece === "</mark>") {
      isFound = piece === "<mark>";
    } else if (piece) {
      parts.push({ text: piece.replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => SIGNS[sign]!), isFound });
    }
  }
  return parts;
}

/** The hub looks for what to show in so much of a text. */
const MOST_LOOKED_AT = 64 * 1024;

/** Whether a text goes on before and behind what is shown of it. */
export function cutOf(text: string, parts: ReadonlyArray<{ text: string }>): { atStart: boolean; atEnd: boolean } {
  const plain = (some: string) => some.replace(/\s+/g, " ").trim();
  const [whole, shown] = [plain(text.slice(0, MOST_LOOKED_AT)), plain(parts.map((part) => part.text).join(""))];
  const isPart = whole.includes(shown);
  const goesOn = text.length > MOST_LOOKED_AT || !whole.endsWith(shown);
  return { atStart: isPart && !whole.startsWith(shown), atEnd: isPart && goesOn };
}

/** So much of a snippet is drawn, in plain characters. The hub sends 200 characters, and there are fifty of them on a page. */
const MOST_DRAWN = 600;

/** The parts of a snippet as far as a browser draws them quickly. */
export function beginningOfParts<Part extends { text: string }>(parts: readonly Part[]): Part[] {
  let left = endOf(parts.map((part) => part.text).join(""), 0, MOST_DRAWN);
  return parts.flatMap((part) => {
    const text = part.text.slice(0, left);
    left -= text.length;
    return text ? [{ ...part, text }] : [];
  });
}

/** In code, marks are what they are: its own are the first and the last group. What is cut off has only one of them. */
const CODE = /^[ \t]*((?:```+|~~~)[^\n`]*(?:\n|$))|(?<!`)(`+)(?!`)(?:(.{0,400}?[^`])(\2)(?!`))?/gmsd;
/** The groups are what is left out. */
const MARKS: readonly RegExp[] = [
  /^[ \t]*(#{1,6}[ \t]+)/gmd,
  /^[ \t]*((?:>[ \t]?)+)/gmd,
  // What it says stays, where it leads goes.
  /(!?\[)[^[\]\n]*(\]\([^()\s]*\))/gd,
  /(\*\*+)(?=\S)|(?<=\S)(\*\*+)/gd,
  /(?<!\w)(__)(?=\S)|(?<=\S)(__)(?!\w)/gd,
  /(~~)(?=\S)|(?<=\S)(~~)/gd,
  /(?<![\w*])(\*)(?=[^\s*])[^*\n]*(?<=[^\s*])(\*)(?![\w*])/gd,
  /(?<!\w)(_)(?=[^\s_])[^_\n]*(?<=[^\s_])(_)(?!\w)/gd,
];
const ESCAPED = /(\\)([!-/:-@[-`{-~])/gd;

/** The parts of a snippet as one reads them, without the marks of Markdown. What was found is never left out. */
export function withoutMarks<Part extends { text: string; isFound: boolean }>(parts: readonly Part[]): Part[] {
  const whole = parts.map((part) => part.text).join("");
  /** What becomes of each character; nothing said is said later. */
  const fates = parts.flatMap((part) => Array<"stays" | "goes" | undefined>(part.text.length).fill(part.isFound ? "stays" : undefined));
  const decide = (fate: "stays" | "goes", ranges: ReadonlyArray<[number, number] | undefined>) => {
    const ends = ranges.filter((range) => range !== undefined);
    // All of a mark, or none of it.
    if (ends.some(([from, to]) => fates.slice(from, to).some((known) => known && known !== fate))) return;
    for (const [from, to] of ends) fates.fill(fate, from, to);
  };
  for (const { indices } of whole.matchAll(CODE)) {
    const [, fence, open, inside, close] = indices!;
    decide("goes", [fence, open, close]);
    if (inside) decide("stays", [inside]);
  }
  for (const { indices } of whole.matchAll(ESCAPED)) {
    decide("goes", [indices![1]]);
    decide("stays", [indices![2]]);
  }
  for (const pattern of MARKS) for (const { indices } of whole.matchAll(pattern)) decide("goes", indices!.slice(1));
  let at = 0;
  return parts
    .map((part) => ({ ...part, text: part.text.replace(/[^]/g, (sign) => (fates[at++] === "goes" ? "" : sign)) }))
    .filter((part) => part.text !== "");
}
