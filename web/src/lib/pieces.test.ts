import { expect, test } from "vitest";

import { MOST_SHOWN, endOf } from "./cut";
import { piecesOf } from "./pieces";

const texts = {
  line: "x".repeat(262_144),
  words: "word ".repeat(50_000),
  directions: "a\u05d0".repeat(87_000),
  blocks: "a\n\n".repeat(20_000),
  report: `# A report\n\n${"A paragraph of it.\n\n- one\n- two\n\n".repeat(2000)}\`\`\`sh\n${"a line of code\n\n".repeat(1000)}\`\`\`\n\nThe end, **bold**.`,
};

test("the pieces are the text, and none costs more than a text in place", () => {
  for (const isMarkdown of [true, false]) {
    for (const [name, text] of Object.entries(texts)) {
      const pieces = piecesOf(text, isMarkdown);
      expect(pieces.map((piece) => piece.text).join("") === text, name).toBe(true);
      expect(pieces.every((piece) => endOf(piece.text, 0, MOST_SHOWN) === piece.text.length), name).toBe(true);
    }
  }
});

test("blocks of Markdown stay whole, and a long one is shown as it was written", () => {
  const pieces = piecesOf(texts.report, true);
  expect(pieces.at(0)).toMatchObject({ at: 0, kind: "blocks" });
  expect(pieces.filter(({ kind }) => kind === "code").length).toBeGreaterThan(3);
  expect(pieces.at(-1)).toMatchObject({ kind: "blocks", text: "The end, **bold**." });
  expect(piecesOf(texts.line, true).every(({ kind }) => kind === "text")).toBe(true);
  expect(piecesOf("some **words**", false)).toEqual([{ at: 0, text: "some **words**", kind: "text" }]);
});
