// @vitest-environment jsdom

import { expect, test } from "vitest";

import { toHtml } from "./markdown";

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
        expect(["class", "href", "rel", "start", "target"], attack).toContain(name);
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
    '<p><span class="mention">@scout</span> and <span class="mention mention-me">@ada</span></p>',
  );
  expect(html("`@scout` a@b.example")).not.toContain("mention");
});
