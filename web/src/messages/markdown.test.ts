// @vitest-environment jsdom

import { expect, test } from "vitest";

import { channelsIn, toHtml } from "./markdown";

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
  const isThere = (name: string) => name !== "fff";
  expect(channelsIn("#general, #fff, #deep-sea and #general; x#not", isThere)).toEqual(["general", "deep-sea"]);
});
