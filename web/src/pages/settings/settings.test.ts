import { expect, test } from "vitest";

import { withLevel } from "./levels";
import { passwordFault } from "./password";
import { AREAS, READS, expiryOf, permissionWords } from "./permissions";

test("passwords are measured in bytes, as the hub does", () => {
  for (const good of ["", "12345678", "ääää", "x".repeat(72)]) expect(passwordFault(good), good).toBeUndefined();
  for (const bad of ["1234567", "äää", "x".repeat(73), "ä".repeat(37), "12345678\0"]) expect(passwordFault(bad), bad).toBeDefined();
});

test("a level is set, changed and taken away; what is not seen any more is left out", () => {
  const seen = [{ name: "a" }, { name: "b" }];
  const levels = [{ channel: "a", level: "all" as const }, { channel: "gone", level: "all" as const }];
  expect(withLevel(levels, "b", "mentions", seen)).toEqual([{ channel: "a", level: "all" }, { channel: "b", level: "mentions" }]);
  expect(withLevel(levels, "a", "mentions", seen)).toEqual([{ channel: "a", level: "mentions" }]);
  expect(withLevel(levels, "a", "", seen)).toEqual([]);
});

test("permissions are told in few words", () => {
  expect(permissionWords(["*"])).toBe("Full access");
  expect(permissionWords([...READS].reverse())).toBe("Read only");
  expect(permissionWords(["messages:read"])).toBe("messages:read");
  expect(AREAS.flatMap((area) => [area.read, area.write].filter(Boolean))).toHaveLength(16);
});

test("a key ends when it was said to", () => {
  expect(expiryOf("7", Date.parse("2026-11-01T00:00:00Z"))).toBe("2026-11-08T00:00:00.000Z");
  expect(expiryOf("")).toBeNull();
});
