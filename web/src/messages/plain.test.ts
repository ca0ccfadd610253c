// @vitest-environment jsdom

import { expect, test } from "vitest";

import { toHtml } from "./markdown";
import { isPlain } from "./plain";

const PLAIN = ["hello", "Hello, world!", "Is it done? It is (mostly).", "日本語 テキスト", "naïve “café”…", "it's 12 o'clock", "a"];
const MARKED = [
  "", " indented", "    code", "two\nlines", "**bold**", "a_b_c", "`code`", "@scout", "see example.com", "https://example.com", "www.example.com",
  "a@b.example", "1. one", "1) one", "- one", "+ one", "# title", "> quote", "a | b", "<b>", "&amp;", "\\*", "~~gone~~", "[a](b)", "---", "===", "end  ",
  "hidden \u3164 letters", "\u115fa",
];

test("plain texts look the same as through Markdown", () => {
  for (const text of PLAIN.filter(isPlain)) {
    const paragraph = document.createElement("p");
    paragraph.textContent = text;
    expect(String(toHtml(text, undefined)).trim()).toBe(paragraph.outerHTML);
  }
  expect(PLAIN.filter((text) => !isPlain(text))).toEqual(["naïve “café”…"]);
});

test("what may be marked is not plain", () => {
  expect(MARKED.filter(isPlain)).toEqual([]);
});
