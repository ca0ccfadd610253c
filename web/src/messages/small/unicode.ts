/**
 * Stands in for the library `uc.micro`, of which markdown-it and linkify-it take tables of characters. The browser has these tables itself.
 * linkify-it joins the sources of some of them into expressions without the flag `u`, so those sources name the characters one by one.
 */

/** Where the Basic Multilingual Plane has punctuation. */
const PARTS: ReadonlyArray<[number, number]> = [[0, 0x3100], [0xa000, 0xac00], [0xfd00, 0x10000]];

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, "0")}`;

/** An expression that works as it is, and whose source works without the flag `u` as well. */
function listing(pattern: RegExp): RegExp {
  let ranges = "";
  for (const [start, end] of PARTS) {
    let first = -1;
    for (let code = start; code <= end; code++) {
      const isIn = code < end && pattern.test(String.fromCharCode(code));
      if (isIn && first < 0) first = code;
      if (isIn || first < 0) continue;
      ranges += `${escaped(first)}-${escaped(code - 1)}`;
      first = -1;
    }
  }
  return Object.defineProperty(pattern, "source", { value: `[${ranges}]` });
}

export const Any = /[\0-\uD7FF\uE000-\uFFFF]|[\uD800-\uDBFF][\uDC00-\uDFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]/;
export const Cc = /[\0-\x1F\x7F-\x9F]/;
export const P = listing(/\p{P}/u);
export const S = /\p{S}/u;
export const Z = /[ \xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;
