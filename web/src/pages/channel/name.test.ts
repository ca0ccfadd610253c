import { expect, test } from "vitest";

import { channelName, wholeName } from "./name";

test.each([
  ["Release Notes", "release-notes"],
  ["release ", "release-"],
  ["release  notes", "release-notes"],
  ["release-  notes", "release-notes"],
  ["#General!", "general"],
  ["  --_x", "x"],
  ["Übersicht", "ubersicht"],
  ["a_b-c--d", "a_b-c--d"],
  ["日本", ""],
  ["7", "7"],
  ["x".repeat(70), "x".repeat(64)],
])("%j is called %j", (typed, name) => {
  expect(channelName(typed)).toBe(name);
});

test("what is cleaned up stays as it is", () => {
  for (const typed of ["Release  Notes ", "-- a - b", "ŉ ﬁ"]) {
    const once = channelName(typed);
    expect(channelName(once)).toBe(once);
  }
});

test("a dash at the end waits for a word", () => {
  expect(wholeName("release-")).toBe("release");
  expect(wholeName("release-notes")).toBe("release-notes");
});
