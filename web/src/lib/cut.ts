/** So many plain characters of a text are drawn in place. A conversation is read past what is longer, and a browser works on it for long. */
export const MOST_SHOWN = 4000;

/** A letter may have a few marks. More of them make a tower. */
const USUAL_MARKS = 3;
/** What a character costs a browser, in plain characters. Measured in Chromium: each change of script or direction is laid out alone. */
const COSTS = { line: 8, pile: 8, change: 4, rareChange: 24 };

const MARK = /[\p{M}\p{DI}]/u;
/** Drawn as a sign of its own. */
const HIDDEN = /\p{DI}/u;
/** Signs and symbols that stand beside any script. */
const isNeutral = (code: number) => code < 0x41 || (code > 0x5a && code < 0x61) || (code > 0x7a && code < 0xc0) || (code >= 0x2000 && code < 0x2800);
const isEastAsian = (code: number) =>
  (code >= 0x2e80 && code < 0xd800) || (code >= 0xf900 && code < 0xfb00) || (code >= 0xff00 && code < 0xfff0) || (code >= 0x20000 && code < 0x40000);

/** A number for the script of a letter. Scripts from 8 on need a font that few pages use, which a browser looks for each time. */
function scriptOf(code: number): number {
  if (code < 0x370 || (code >= 0x1e00 && code < 0x1f00)) return 0;
  if (code < 0x590) return code < 0x400 ? 1 : 2;
  if (code < 0x700) return code < 0x600 ? 3 : 4;
  if (isEastAsian(code)) return 5;
  return code >= 0x1f000 && code < 0x1fb00 ? 6 : 8 + (code >> 7);
}

/**
 * Where the part of a text ends that begins at `start` and costs a browser no more than `most` plain characters: at the end of a line or a
 * word if there is one near, and not within a character. It looks at no more of the text than that.
 */
export function endOf(text: string, start = 0, most = MOST_SHOWN): number {
  let cost = 0;
  let marks = 0;
  let script = -1;
  let at = start;
  while (at < text.length) {
    const code = text.codePointAt(at)!;
    const isMark = code >= 0xad && MARK.test(String.fromCodePoint(code));
    const isCostly = isMark && (marks >= USUAL_MARKS || HIDDEN.test(String.fromCodePoint(code)));
    marks = isMark ? marks + 1 : 0;
    cost += code === 10 ? COSTS.line : isCostly ? COSTS.pile : 1;
    if (!isMark && !isNeutral(code)) {
      const next = scriptOf(code);
      if (next !== script && script >= 0) cost += Math.max(next, script) < 8 ? COSTS.change : COSTS.rareChange;
      script = next;
    }
    if (cost > most && at > start) break;
    at += code > 0xffff ? 2 : 1;
  }
  if (at >= text.length) return text.length;
  const least = start + (at - start) / 2;
  for (let end = at; end > least; end--) {
    const before = text[end - 1];
    if (before === "\n" || before === " ") return end;
  }
  // Marks belong to the letter before them.
  for (let end = at; end > Math.max(least, at - 8); end--) {
    if (!MARK.test(text[end]!) && !/[\udc00-\udfff\u200d]/.test(text[end]!) && text[end - 1] !== "\u200d") return end;
  }
  return at;
}

/** The beginning of a text as far as it is drawn in place. */
export function beginningOf(text: string, most = MOST_SHOWN): string {
  const end = endOf(text, 0, most);
  return end < text.length ? text.slice(0, end).trimEnd() : text;
}

/** Whether a text was cut because its characters are costly to draw, and not because it is long. */
export function isDense(beginning: string, text: string): boolean {
  return beginning.length < text.length && beginning.length < MOST_SHOWN / 4;
}

/** A text in one line of limited cost, for a label or a title. */
export function briefOf(text: string, most: number): string {
  const shown = beginningOf(text, most);
  return shown.length < text.length ? `${shown}…` : shown;
}
