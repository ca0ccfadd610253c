// @vitest-environment jsdom

import { expect, test } from "vitest";

import { codeParts } from "./codeParts";
import { MOST_COLOURED, colourCode } from "./colourCode";
import { render } from "./markdown";

const kinds = (code: string, language: string) =>
  codeParts(code, language)!
    .filter(({ kind }) => kind)
    .map(({ text, kind }) => `${kind}: ${text}`);

test("keywords, strings, numbers and comments are told apart", () => {
  expect(kinds("const a = 'b\\'c'; // if 1", "ts")).toEqual(["keyword: const", "string: 'b\\'c'", "comment: // if 1"]);
  expect(kinds("let x: &'a str = \"y\"; /* fn */ 0x1f 1.5", "rust")).toEqual(["keyword: let", "keyword: str", 'string: "y"', "comment: /* fn */", "number: 0x1f", "number: 1.5"]);
  expect(kinds("def f(): # why\n  return \"\"\"if\nfor\"\"\"", "python")).toEqual(["keyword: def", "comment: # why", "keyword: return", 'string: """if\nfor"""']);
  expect(kinds("SELECT a FROM b -- c", "sql")).toEqual(["keyword: SELECT", "keyword: FROM", "comment: -- c"]);
  expect(kinds("+new\n-old\n same\n", "diff")).toEqual(["string: +new\n", "removed: -old\n"]);
  expect(kinds("see https://a.example/if", "js")).toEqual(["keyword: if"]);
  expect(kinds("echo don't # it's", "sh")).toEqual(["keyword: echo", "comment: # it's"]);
});

test("no character is lost, whatever the code is", () => {
  const hostile = ['"', "'", "`", "/*", "\\", "#", "//", "1.", "a'", '"""', "<!--", "--", "\n"].flatMap((part) => [part, part.repeat(700), `x ${part}`.repeat(300)]);
  for (const language of ["js", "rust", "py", "sql", "html", "css", "diff"]) {
    for (const code of hostile) expect(codeParts(code, language)!.map(({ text }) => text).join("")).toBe(code);
  }
  expect(codeParts("if", "unknown")).toBeUndefined();
});

const page = (text: string) => {
  const box = document.createElement("div");
  box.innerHTML = String(render(text, undefined).html);
  const before = box.textContent;
  colourCode(box);
  expect(box.textContent).toBe(before);
  return box.querySelectorAll("span:not(.sign)").length;
};

test("few elements are added, and none where characters are hidden", () => {
  expect(page("```js\nif (1) x()\n```")).toBe(2);
  expect(page("```js\nif (1) \u200b x()\n```")).toBe(0);
  expect(page(`\`\`\`js\n${"1 ".repeat(MOST_COLOURED + 1)}\n\`\`\``)).toBe(0);
  expect(page(`\`\`\`js\n${"1 ".repeat(200)}\n\`\`\`\n\n`.repeat(4))).toBe(200);
  expect(page(`${"*a* ".repeat(600)}\n\`\`\`js\nif\n\`\`\``)).toBe(0);
});
