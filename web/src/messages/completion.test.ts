import { expect, test } from "vitest";

import { complete, partialAt } from "./completion";

test("a name or a channel that is being typed is found", () => {
  expect(partialAt("ask @sc", 7)).toEqual({ kind: "name", text: "sc", start: 4 });
  expect(partialAt("#", 1)).toEqual({ kind: "channel", text: "", start: 0 });
  expect(partialAt("(@a", 3)).toMatchObject({ kind: "name", text: "a" });
  for (const [text, caret] of [["mail@host", 9], ["@scout now", 10], ["", 0], ["a#b", 3]] as const) {
    expect(partialAt(text, caret)).toBeNull();
  }
});

test("a completed word is followed by one blank", () => {
  const partial = partialAt("ask @sc please", 7)!;
  expect(complete("ask @sc please", 7, partial, "scout")).toEqual({ text: "ask @scout please", caret: 11 });
});
