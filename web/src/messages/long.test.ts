import { expect, test } from "vitest";

import { beginningOf } from "./long";

test("only what is very long is cut, between words if it has any", () => {
  expect(beginningOf("a word")).toBe("a word");
  const cut = beginningOf("word ".repeat(10_000));
  expect(cut.length).toBeLessThanOrEqual(16_000);
  expect(cut.endsWith("word")).toBe(true);
  const solid = beginningOf(`x${"😀".repeat(20_000)}`);
  expect(/[\ud800-\udbff]$/.test(solid)).toBe(false);
  expect(solid.length).toBeGreaterThan(15_000);
});
