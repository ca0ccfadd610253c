// @vitest-environment jsdom

import { expect, test } from "vitest";

import { MOST_NODES_ASKED, channelsIn, render, toHtml } from "./markdown";

const html = (text: string, me?: string) => String(toHtml(text, me)).trim();

test("what looks like a tag is text", () => {
  expect(html("`Vec<T>` and Vec<T>")).toBe("<p><code>Vec&lt;T&gt;</code> and Vec&lt;T&gt;</p>");
});

test("nothing that is written runs or loads anything", () => {
  const attacks = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](https://elsewhere.example/pixel.png)",
    "<svg onload=alert(1)>",
    '[x](https://a.example "onmouseover=alert(1)")',
    "```html\n<script>alert(1)</script>\n```",
    '<a href="java\nscript:alert(1)">x</a>',
    "<style>body{display:none}</style>",
    "<iframe src=//x.example></iframe>",
    "[x](//elsewhere.example)",
  ];
  for (const attack of attacks) {
    const page = document.createElement("div");
    page.innerHTML = html(attack);
    expect(page.querySelector("script, img, svg, iframe, style, object, embed, form, input"), attack).toBeNull();
    for (const element of page.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        expect(["class", "data-language", "data-run", "href", "rel", "start", "target"], attack).toContain(name);
        if (name === "href") expect(value, attack).toMatch(/^(https?:|mailto:|\/(?!\/)|#)/);
      }
    }
  }
});

test("links open elsewhere and tell nobody where from", () => {
  expect(html("https://a.example")).toContain('rel="noopener noreferrer nofollow"');
});

test("who is called out is marked, and oneself more so; not in code, not in addresses", () => {
  expect(html("@scout and @ada", "ada")).toBe(
    '<p><a class="mention" href="/people/scout">@scout</a> and <a class="mention mention-me" href="/people/ada">@ada</a></p>',
  );
  expect(html("`@scout` a@b.example")).not.toContain("mention");
  // All of a channel has no profile, and a link cannot hold another one.
  expect(html("@here")).toBe('<p><span class="mention mention-me">@here</span></p>');
  expect(html("[@scout](https://a.example)")).toContain('<span class="mention">@scout</span></a>');
});

test("a channel that there is becomes a link within the page", () => {
  const linked = (text: string) => String(toHtml(text, "ada", ["general", "deep-sea"])).trim();
  const general = '<a class="channel" href="/channels/general">#general</a>';
  expect(linked("see #general, or (#deep-sea)")).toBe(
    `<p>see ${general}, or (<a class="channel" href="/channels/deep-sea">#deep-sea</a>)</p>`,
  );
  expect(linked("**#general**")).toBe(`<p><strong>${general}</strong></p>`);
  for (const text of ["#1 and #fff", "#generals #general-x #General", "a#general", "&#general;", "https://a.example/#general", "a.example?#general", "`#general`", "```\n#general\n```"]) {
    expect(linked(text), text).not.toContain('class="channel"');
  }
  expect(linked("[#general](https://a.example)")).toContain('<a href="https://a.example" target="_blank" rel="noopener noreferrer nofollow">#general</a>');
});

test("which channels a text speaks of", () => {
  const all = new Set(["deep-sea", "general", "not"]);
  expect(channelsIn("#general, #fff, #deep-sea and #general; x#not", all)).toEqual(["general", "deep-sea"]);
});

const inPage = (text: string) => {
  const page = document.createElement("div");
  page.innerHTML = html(text);
  return page;
};
const targets = (text: string) => [...inPage(text).querySelectorAll("bdi.target")].map((one) => one.textContent);

test("a link whose text names another place shows where it leads", () => {
  expect(html("[bank.example](https://evil.example/x)")).toMatch(/>bank\.example<\/a> <bdi class="target">\(goes to evil\.example\)<\/bdi>/);
  const goes = ["(goes to evil.example)"];
  expect(targets("[**bank**.example](https://evil.example)")).toEqual(goes);
  expect(targets("[`bank.example`](https://evil.example)")).toEqual(goes);
  expect(targets("[bank.example][x]\n\n[x]: https://evil.example")).toEqual(goes);
  expect(targets("[](https://evil.example)")).toEqual(goes);
  expect(targets("https://bank.example@evil.example/x")).toEqual(goes);
  expect(html("see https://bank.example@evil.example/x now")).toContain('href="https://bank.example@evil.example/x"');
  expect(targets("https://bank.example:443@evil.example")).toEqual(goes);
  expect(targets("<https://bank.example@evil.example>")).toEqual(goes);
  expect(targets("[![bank.example](https://c.example/x.png)](https://evil.example)")).toEqual(goes);
  expect(targets("https://b\u0430nk.example")).toEqual(["(goes to xn--bnk-6cd.example)"]);
  expect(targets("https://bank.example/a.js, [docs](https://evil.example), a@bank.example and bank.example")).toEqual([]);
  // Only the page makes this element.
  expect(targets('<bdi class="target">(goes to bank.example)</bdi>')).toEqual([]);
});

test("a picture is a link that names its host", () => {
  expect(html("![a chart](https://c.example/x.png)")).toContain(">a chart</a> <bdi");
  expect(targets("![a chart](https://c.example/x.png)")).toEqual(["(image at c.example)"]);
  expect(inPage("![](https://c.example/x.png)").querySelector("a")!.textContent).toBe("picture");
});

test("hidden characters are drawn as marks, in code as well", () => {
  const signs = (text: string) => [...inPage(text).querySelectorAll<HTMLElement>(".sign")].map((one) => `${one.textContent} ${one.dataset["run"]}`);
  expect(signs("a\u200bb")).toEqual(["U+200B 200b"]);
  expect(signs("a&#8203;b &shy;")).toEqual(["U+200B 200b", "U+00AD ad"]);
  expect(signs("`a\u202eb`")).toEqual(["U+202E 202e"]);
  expect(signs("```\na\u202e\u2066b\n```")).toEqual(["2 invisible 202e 2066"]);
  expect(signs("    a\u200b")).toEqual(["U+200B 200b"]);
  expect(signs("[a\u200b](https://a.example)")).toEqual(["U+200B 200b"]);
  expect(signs("| a\u200b |\n|---|\n| b |")).toEqual(["U+200B 200b"]);
  expect(signs("👩‍👧 ❤️ 1️⃣")).toEqual([]);
  expect(signs("\u200b".repeat(1000))[0]!.length).toBeLessThan(400);
  expect(signs("a\u200b".repeat(5000))).toHaveLength(500);
  expect(inPage("a\u200b".repeat(600)).textContent).toContain("a[U+200B]a");
});

test("source that is not drawn is noticed", () => {
  const partial: Record<string, string> = {
    definition: "see below\n\n[x]: https://a.example 'ignore all'",
    "definition of a word": "see below\n\n[^1]: ignore",
    "definition that is used": "[x]\n\n[x]: https://a.example",
    "definition twice": "[x]\n\n[x]: https://a.example\n[x]: https://a.example/ignore-all",
    "definition in a quote": "> [x]: https://a.example",
    "title of a link": '[x](https://a.example "ignore all")',
    "title of a picture": '![x](https://a.example/x.png "ignore all")',
    "picture in a link": "[![x](https://a.example/x.png)](https://a.example)",
    "cells beyond the table": "| a | b |\n|---|---|\n| 1 | 2 | ignore all |",
    "words after the language": "```js ignore all\nx\n```",
    "a long language": `\`\`\`${"ignore-".repeat(5)}\nx\n\`\`\``,
    "number in a list": "1. pay\n9000. dollars",
    "number in a list in a list": "1. pay\n   - x\n2. bob\n   1. a\n   17. b",
    "nested too deep": `${">".repeat(150)} ignore all`,
    "address that is taken out": "[x](ftp://a.example/ignore)",
    "address without a host": "[x](ignore-all)",
    "address of another page": "[x](//a.example)",
    "long address": `[x](https://a.example/?${"ignore+all+".repeat(30)})`,
    "text of a mail": "[x](mailto:a@a.example?body=ignore%20all)",
    emoji: "see below\n\n[😀]: 😀",
  };
  for (const [name, text] of Object.entries(partial)) expect(render(text, "ada").isPartial, name).toBe(true);
});

test("source that is drawn is not announced", () => {
  const whole = [
    "", "plain", "# Title #\n\ntext\n===\n\n---", "1. one\n2. two\n   - three\n3. four\n   1. a\n   1. b\n4. five", "7) a\n7) b\n\ntext", "```js\nlet a;\n```", "~~~\nx\n~~~", "    code\n\n    more",
    "| a | b |\n|:-:|--:|\n| `1` | 2 \\| 3 |\n| 4 |", "> quote\n> more\n>> deeper", "<!-- a comment --> <b>bold</b>", "---\ntitle: x\n---\ntext",
    "&amp; &copy; &#65; &nothing;", "\\* \\[x]", "[docs](https://a.example/x) and <https://a.example> and a@b.example", "![a chart](https://c.example/x.png)",
    "@scout in #general", "**bold** _it_ ~~gone~~ `code`", "line\nline  \nline\\\nline", "a\u0000b", "[undefined] and [x][y]", "* a\n\n      code\n\tb", "Vec<T>", "a\u200bb",
  ];
  for (const text of whole) expect(render(text, "ada").isPartial, text).toBe(false);
});

test("the language of code is drawn above it", () => {
  expect(html("```rust\nx\n```")).toBe('<pre data-language="rust"><code>x\n</code></pre>');
  expect(html('```"onclick=alert(1)\nx\n```')).toBe("<pre><code>x\n</code></pre>");
});

test("columns keep their side, without a style", () => {
  const cells = html("| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |");
  expect(cells).toContain('<th class="to-left">a</th>');
  expect(cells).toContain('<td class="to-center">2</td>');
  expect(cells).toContain('<td class="to-right">3</td>');
  expect(cells).toContain("<td>4</td>");
  expect(cells).not.toContain("style");
});

test("a task in a list has a box that nobody can tick", () => {
  const boxes = (text: string) => [...inPage(text).querySelectorAll("input")].map((box) => `${box.type} ${box.disabled} ${box.checked} ${box.getAttribute("aria-label")}`);
  expect(boxes("- [x] done\n- [ ] open\n1. [X] also")).toEqual([
    "checkbox true true Completed task", "checkbox true false Incomplete task", "checkbox true true Completed task",
  ]);
  expect(inPage("- [x] **done** now").textContent?.trim()).toBe("done now");
  expect(boxes("[x] no list\n\n- [y] no\n- [x]no\n- `[x] no`\n- a [x] no\n- [x] \n\n<input type=text>")).toEqual([]);
  expect(render("- [x] done\n- [ ] open", "ada").isPartial).toBe(false);
});

test("no word of a random text is lost without a notice", () => {
  let seed = 7;
  const draw = (count: number) => {
    seed = (seed + 0x6d2b79f5) | 0;
    const mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    return ((mixed ^ (mixed >>> 13)) >>> 0) % count;
  };
  const parts =
    "\n|\n\n| |> |- |1. |2) |    |```|~~~|`|``|[|]|(|)|](|]: |![|\"|'|<|>|*|**|_|~~|#|## |\n===\n|\n---\n|\\|&amp;|&|;|https://a.example/|<https://b.example>|<!--|-->|:|@scout|^|\u200b|  \n|=|!|mailto:x@y.example|ftp://|//"
      .split("|")
      .concat("|", "\n|---|---|\n", "|\n|");
  for (let times = 0; times < 400; times++) {
    let text = "";
    for (let left = 3 + draw(22); left > 0; left--) text += draw(3) === 0 ? `qw${left}z` : parts[draw(parts.length)]!;
    const { html: drawn, isPartial } = render(text, undefined);
    if (isPartial) continue;
    // Addresses and languages count as shown.
    const shown = `${inPage(text).textContent} ${String(drawn)}`;
    expect((text.match(/qw\d+z/g) ?? []).filter((word) => !shown.includes(word)), JSON.stringify(text)).toEqual([]);
  }
});

test("a text that would become too many elements is not drawn until somebody asks, and then in part", () => {
  const columns = 256;
  const table = `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|\n".repeat(columns)}`;
  const many = {
    table,
    tables: `${table}\n`.repeat(9),
    lines: "a\n".repeat(2500),
    emphasis: "*a* ".repeat(1200),
    links: "http://a.b ".repeat(1000),
    quotes: "> a\n\n".repeat(1200),
  };
  for (const [name, text] of Object.entries(many)) {
    expect(render(text, undefined).isOver, name).toBe(true);
    expect(String(render(text, undefined).html), name).toBe("");
    const box = document.createElement("div");
    box.innerHTML = String(render(text, undefined, [], MOST_NODES_ASKED).html);
    expect(box.querySelectorAll("*").length, name).toBeGreaterThan(400);
    expect(box.querySelectorAll("*").length, name).toBeLessThanOrEqual(MOST_NODES_ASKED);
  }
  const asked = render(table, undefined, [], MOST_NODES_ASKED);
  expect([asked.isOver, asked.isPartial]).toEqual([true, false]);
  expect(String(asked.html)).toMatch(/<\/table>\s*$/);
  expect(render("- a\n".repeat(300), undefined).isOver).toBe(false);
});
