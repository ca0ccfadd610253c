import { expect, test } from "vitest";

import { notifiedWords } from "./notifiedWords";

const members = [
  { name: "scout", kind: "agent" },
  { name: "scribe", kind: "agent" },
  { name: "mira", kind: "user" },
];

test("a proposal says which agents it notifies at once", () => {
  expect(notifiedWords("Ask three customers", members)).toBe("");
  expect(notifiedWords("@mira and @nobody, look. Mail me@scout", members)).toBe("");
  expect(notifiedWords("(@Scout) look", members)).toBe("@scout is notified at once.");
  expect(notifiedWords("@scribe @scout @scribe", members)).toBe("@scout and @scribe are notified at once.");
});
