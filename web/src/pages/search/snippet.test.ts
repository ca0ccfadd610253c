import { expect, test } from "vitest";

import { partsOf, withoutMarks } from "./snippet";

/** As it is read, with what was found in brackets. */
const read = (snippet: string) =>
  withoutMarks(partsOf(snippet))
    .map(({ text, isFound }) => (isFound ? `⟨${text}⟩` : text))
    .join("");

test.each([
  ["the **<mark>retry</mark> limit** is `five`", "the ⟨retry⟩ limit is five"],
  ["**<mark>retry</mark>**", "⟨retry⟩"],
  ["it ends in **bold and is cut", "it ends in bold and is cut"],
  ["cut off** before <mark>this</mark>", "cut off before ⟨this⟩"],
  ["a `<mark>retry</mark>_limit` and an *accent* or _two_", "a ⟨retry⟩_limit and an accent or two"],
  ["# A <mark>heading</mark>\n> said\n- one", "A ⟨heading⟩\nsaid\n- one"],
  ["```rust\nlet <mark>x</mark> = **y;\n```", "let ⟨x⟩ = y;\n"],
  ["[the <mark>docs</mark>](https://a.example/x) say", "the ⟨docs⟩ say"],
  ["[the docs](https://<mark>a.example</mark>/x) say", "[the docs](https://⟨a.example⟩/x) say"],
  ["~~gone~~ and \\*kept\\*", "gone and *kept*"],
])("%j reads %j", (snippet, text) => {
  expect(read(snippet)).toBe(text);
});

test.each(["2 ** 3 and 2 * 3 * 4", "snake_case_name and __", "C:\\dir\\file", "a > b # c", "½ 😀 ✓"])("%j has no marks", (text) => {
  expect(read(text)).toBe(text);
});

test("what is in code stays as it is", () => {
  expect(read("`**kwargs` and `__init__`")).toBe("**kwargs and __init__");
  expect(read("``a ` b``")).toBe("a ` b");
});

test("what was found is never left out", () => {
  expect(read("<mark>**</mark>bold")).toBe("⟨**⟩bold");
});
