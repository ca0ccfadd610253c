// @vitest-environment jsdom

import { expect, test } from "vitest";

import { bestOf, rank } from "./paletteRank";

test("a beginning fits best, then a word, then anything", () => {
  expect(rank("scribe", "scr")).toBe(3);
  expect(rank("release-notes", "not")).toBe(2);
  expect(rank("transcript", "scr")).toBe(1);
  expect(rank("general", "x")).toBe(0);
});

test("groups stay together, the one with the best fit first", () => {
  const one = (group: string, label: string) => ({ group, label });
  const all = [one("Go to", "Describe"), one("Channels", "scripts"), one("Go to", "Scope: scr"), one("Channels", "transcripts")];
  expect(bestOf(all, "scr").map(({ label }) => label)).toEqual(["scripts", "transcripts", "Scope: scr", "Describe"]);
});
