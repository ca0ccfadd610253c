import { expect, test } from "vitest";

import { MOST_SHOWN, beginningOf, briefOf, endOf } from "./cut";

test("only a long text is cut, between words if it has any", () => {
  expect(beginningOf("a word")).toBe("a word");
  const cut = beginningOf("word ".repeat(10_000));
  expect(cut.length).toBeLessThanOrEqual(MOST_SHOWN);
  expect(cut.length).toBeGreaterThan(MOST_SHOWN * 0.9);
  expect(cut.endsWith("word")).toBe(true);
  const solid = beginningOf(`x${"😀".repeat(20_000)}`);
  expect(/[\ud800-\udbff]$/.test(solid)).toBe(false);
  expect(solid.length).toBeGreaterThan(MOST_SHOWN);
});

test("texts of one language and mixed ones are shown as far as others", () => {
  const usual = {
    hindi: "नमस्ते दुनिया ",
    thai: "ที่นี่มีน้ำ ",
    arabic: "السَّلامُ عَلَيْكُم ",
    chinese: "漢字とかなを交ぜて書く",
    tamil: "வணக்கம் உலகம் ",
    drawing: "├── src → main ✓ │ ",
    vietnamese: "tiếng Việt rất đẹp ",
  };
  for (const [name, text] of Object.entries(usual)) expect(beginningOf(text.repeat(400).slice(0, 3600)).length, name).toBe(3600);
  expect(beginningOf("some words שלום ".repeat(500)).length).toBeGreaterThan(2000);
});

test("the denser marks and changes of script are, the less is shown", () => {
  const dense = {
    directions: "a\u05d0".repeat(87_000),
    marks: `a${"\u0301".repeat(200_000)}`,
    towers: `a${"\u0301".repeat(40)} `.repeat(5000),
    scripts: "a\u0e01\u10a0\u1200\u1780".repeat(5000),
    hidden: "a\u200b".repeat(50_000),
    lines: "\n".repeat(200_000),
  };
  for (const [name, text] of Object.entries(dense)) expect(beginningOf(text).length, name).toBeLessThan(1100);
});

test("a mark stays with its letter, and a cut text is never empty", () => {
  const text = "e\u0301".repeat(5000);
  expect(endOf(text) % 2).toBe(0);
  expect(endOf(text)).toBeGreaterThan(0);
  expect(endOf(`a${"\u0301".repeat(9)}`, 0, 3)).toBeGreaterThan(0);
  expect(briefOf("a sentence that is long", 12)).toBe("a sentence…");
});

test("a part from the middle ends like one from the beginning", () => {
  const text = "word ".repeat(10_000);
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at);
    expect(end).toBeGreaterThan(at);
    at = end;
  }
});
