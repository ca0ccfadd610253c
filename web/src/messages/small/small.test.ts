// @vitest-environment jsdom

import { expect, test } from "vitest";

import { toHtml } from "../markdown";
import { decodeHTMLStrict } from "./entities";
import punycode from "./punycode";
import { P, S, Z } from "./unicode";

const html = (text: string) => String(toHtml(text, undefined)).trim();

test("the names that people know are characters, others stay what they are", () => {
  const known = { amp: "&", nbsp: "\u00a0", yuml: "ÿ", Alpha: "Α", omega: "ω", Omega: "Ω", hellip: "…", zwj: "\u200d", rang: "⟩", quot: '"' };
  for (const [name, character] of Object.entries(known)) expect(decodeHTMLStrict(`&${name};`), name).toBe(character);
  for (const text of ["&nothing;", "&;", "&-;x"]) expect(decodeHTMLStrict(text)).toBe(text);
  expect(html("&copy; &#8212; &#x2713; &bogus; `&amp;`")).toBe("<p>© — ✓ &amp;bogus; <code>&amp;amp;</code></p>");
});

test("hosts in other scripts are asked for by their name in ASCII, and shown as they were written", () => {
  expect(html("<https://bücher.example/ä>")).toContain('href="https://xn--bcher-kva.example/%C3%A4"');
  expect(html("https://bücher.example")).toContain(">https://bücher.example<");
  expect(punycode.toASCII("no host")).toBe("no host");
});

test("punctuation is the same without the flag, except where nobody writes addresses", () => {
  const listed = new RegExp(P.source);
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    expect(listed.test(character) === /\p{P}/u.test(character), code.toString(16)).toBe(true);
  }
  expect([P.test("𐬹"), P.test("a"), S.test("€"), Z.test("\u3000")]).toEqual([true, false, true, true]);
});

test("addresses end at punctuation of other scripts", () => {
  expect(html("看https://a.example/x。")).toContain('href="https://a.example/x"');
});
