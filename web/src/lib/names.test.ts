import { expect, test } from "vitest";

import { fullName } from "./names";

test("a name that stands alone has the handle with it", () => {
  const cases: Array<[string, string, string]> = [
    ["ada", "Ada", "@ada"],
    ["ada", "", "@ada"],
    ["ada", "Ada Lovelace", "Ada Lovelace (@ada)"],
    ["mallory", "Ada (@ada)", "Ada (@ada) (@mallory)"],
    ["mallory", "a\u200bda", "a[U+200B]da (@mallory)"],
    ["mallory", "ada\u202e", "ada[U+202E] (@mallory)"],
    ["mallory", "\u3164", "[U+3164] (@mallory)"],
    ["dana", "דנה", "\u2068דנה\u2069 (@dana)"],
  ];
  for (const [name, display_name, wanted] of cases) expect(fullName({ name, display_name })).toBe(wanted);
  expect(fullName({ name: "mallory", display_name: "x".repeat(500) })).toHaveLength(80 + " (@mallory)".length);
});
