// Texts that made the page work for long, and a generator of others like them.

const columns = 256;

/** A table of 1.5 kB that becomes 65,536 cells: each row is filled up to the columns of the first one. */
export const table = `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|\n".repeat(columns)}`;

/** The texts of which each blocked a tab for seconds. */
export const KNOWN = {
  tables: `${table}\n`.repeat(9).slice(0, 14_500),
  directions: "a\u05d0".repeat(87_000),
  marks: `${`a${"\u0301".repeat(60)}`.repeat(40)}\n`.repeat(50),
  tower: `a${"\u0300\u0301\u0302\u0303".repeat(20_000)}`,
  scripts: Array.from({ length: 40_000 }, (_, at) => String.fromCodePoint(0x900 + ((at * 7919) % 0x1700))).join(""),
  line: "x".repeat(262_144),
  words: "many words of it ".repeat(15_000),
  lines: "\n".repeat(100_000) + "the end",
  brackets: "[".repeat(50_000),
  links: "[a](b".repeat(20_000),
  addresses: "a.example/b c.example ".repeat(8000),
  mails: "a@b.example,".repeat(12_000),
  quotes: `${">".repeat(2000)} deep\n`.repeat(60),
  lists: Array.from({ length: 400 }, (_, at) => `${" ".repeat((at % 60) * 2)}- item`).join("\n").repeat(10),
  emphasis: "*a **b ".repeat(20_000),
  code: "`".repeat(3000) + Array.from({ length: 300 }, (_, at) => ` ${"`".repeat(at)} `).join("x"),
  fences: "```js\na\n```\n".repeat(12_000),
  entities: "&amp;&#x41;".repeat(15_000),
  hidden: "a\u200b".repeat(60_000),
  overrides: "\u202ea\u2066b\u2069".repeat(20_000),
  emoji: "a👨‍👩‍👧b".repeat(10_000),
  channels: "#general #nowhere ".repeat(10_000),
  mentions: "@a-b @admin ".repeat(15_000),
  escapes: "\\*\\_".repeat(30_000),
  references: Array.from({ length: 5000 }, (_, at) => `[r${at}]: https://a.example/${at} "title"`).join("\n"),
};

/** Titles of messages that are asked of somebody: each is short, and there are many of them. */
export const title = (name, at) => `@${name} ${at}${"\n \t".repeat(900)}${"[".repeat(200)}${"- ".repeat(100)}x`;

/** Numbers that are the same for the same seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const RANGES = [[0x61, 0x7a], [0x5d0, 0x5ea], [0x621, 0x64a], [0x400, 0x4ff], [0x900, 0x97f], [0xe01, 0xe4e], [0x1780, 0x17b3], [0x4e00, 0x9fff], [0xac00, 0xd7a0], [0x1200, 0x137f], [0x10a0, 0x10ff], [0x13a0, 0x13f4], [0x1f300, 0x1f6ff], [0x12000, 0x12399], [0x1d400, 0x1d7ff], [0xa000, 0xa48f], [0xe000, 0xf8ff]];
const MARKS = [[0x300, 0x36f], [0x483, 0x487], [0x64b, 0x652], [0x1ab0, 0x1ace], [0x20d0, 0x20f0], [0x93e, 0x94d], [0xf71, 0xf7e], [0xfe20, 0xfe2f]];
const SEPARATORS = ["\n", "\n\n", " ", "\t", "\u00a0", "\u2028", "\u2029", "\u200b", "\u200d", "\u2066", "\u2069", "\u202e", "\u202c", "\ufeff", "\r\n", "\u3000"];
const SYNTAX = ["*", "**", "_", "~~", "`", "```", "[", "]", "(", ")", "](", "![", "<", ">", "|", "|-|", "#", "&", "&#x41;", "@a", "#general", "http://", "a.example", "www.", "mailto:", "\\", "- ", "1. ", "> ", "    ", "---", "===", "$", "{", "}", '"', "[a]: b"];

/** A hostile text: some part of a kind, repeated very often, or a mixture. */
export function hostile(next) {
  const upTo = (most) => Math.floor(next() * most);
  const one = (list) => list[upTo(list.length)];
  const letter = (ranges) => {
    const [first, last] = one(ranges);
    return String.fromCodePoint(first + upTo(last - first + 1));
  };
  const some = (most, make) => Array.from({ length: 1 + upTo(most) }, make).join("");
  const kinds = {
    table: () => {
      const width = 1 + upTo(600);
      return `${one(["|a", "|", "| **b** ", "|\u05d0"]).repeat(width)}|\n${one(["|-", "|:-:"]).repeat(width)}|\n${some(600, () => one(["|\n", "x\n", "|a|b\n", "|`c`\n"]))}\n`;
    },
    scripts: () => some(300, () => letter(RANGES)),
    pair: () => (letter(RANGES) + letter(RANGES)).repeat(1 + upTo(500)),
    marks: () => some(40, () => letter(RANGES) + some(80, () => letter(MARKS))),
    separators: () => some(200, () => one(SEPARATORS) + (next() < 0.5 ? letter(RANGES) : "")),
    fences: () => `${one(["`", "~"]).repeat(3 + upTo(200))}${some(6, () => one(SYNTAX))}\n${some(100, () => one(["a\n", "```\n", "\n", "    b\n"]))}`,
    nesting: () => {
      const [open, close] = one([["> ", ""], ["- ", ""], ["**", "**"], ["[", "](x)"], ["*", "*"], ["(", ")"], ["~~", "~~"], ["1. ", ""], ["![", "](y)"], ["<", ">"]]);
      const depth = 1 + upTo(800);
      return open.repeat(depth) + letter(RANGES) + close.repeat(depth);
    },
    indents: () => some(200, () => `${" ".repeat(upTo(60))}${one(["- ", "1. ", "> ", "* ", "+ "])}x\n`),
    syntax: () => some(400, () => one(SYNTAX)),
    repeated: () => some(4, () => one(SYNTAX)).repeat(1 + upTo(2000)),
    words: () => some(200, () => `${some(12, () => letter([RANGES[0]]))} `),
    random: () => some(300, () => String.fromCodePoint(one([upTo(0xd7ff), 0xe000 + upTo(0x1fff), 0x10000 + upTo(0x20000)]) || 0x20)),
  };
  const parts = some(6, () => {
    const part = kinds[one(Object.keys(kinds))]();
    return part.repeat(1 + (next() < 0.4 ? upTo(100) : 0)).slice(0, 60_000);
  });
  // The hub takes 256 KiB, and no text of spaces only.
  let text = `${one(["", "a ", "# ", "x\n"])}${parts}.`.toWellFormed().replaceAll("\u0000", " ");
  while (Buffer.byteLength(text) > 262_144) text = text.slice(0, Math.floor(text.length * 0.8)).toWellFormed();
  return text;
}
