// @vitest-environment jsdom

import { expect, test } from "vitest";

import { tabTitle } from "./title";

test("a tab says where one is and how much is new", () => {
  expect(tabTitle("# general", 0)).toBe("#general – Stoa");
  expect(tabTitle("@scout", 3)).toBe("(3) @scout – Stoa");
  expect(tabTitle("Inbox", 120)).toBe("(99+) Inbox – Stoa");
  expect(tabTitle("", 0)).toBe("Stoa");
});
