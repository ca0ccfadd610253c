// @vitest-environment jsdom

import { expect, test } from "vitest";

import { tabTitle } from "./title";

test("a tab names its page and how much waits for the person", () => {
  expect(tabTitle("# general", 0, false)).toBe("#general – Stoa");
  expect(tabTitle("@scout", 3, true)).toBe("(3) @scout – Stoa");
  expect(tabTitle("Inbox", 120, false)).toBe("(99+) Inbox – Stoa");
  expect(tabTitle("", 0, false)).toBe("Stoa");
});

test("a tab has a dot if something is only unread", () => {
  expect(tabTitle("# general", 0, true)).toBe("• #general – Stoa");
});
