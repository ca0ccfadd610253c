// @vitest-environment jsdom

import { expect, test } from "vitest";

import { stepFrom } from "./steps";

const stops = ["/channels/a", "/channels/b", "/channels/c", "/dm/d"].map((path) => ({ path, isUnread: path.endsWith("b") || path.endsWith("d") }));

test("one goes up and down the conversations, round and round", () => {
  expect(stepFrom(stops, "/channels/a", 1, false)).toBe("/channels/b");
  expect(stepFrom(stops, "/channels/a", -1, false)).toBe("/dm/d");
  expect(stepFrom(stops, "/dm/d", 1, false)).toBe("/channels/a");
  expect(stepFrom(stops, "/channels/b/settings", 1, false)).toBe("/channels/c");
});

test("from elsewhere one comes in at an end", () => {
  expect(stepFrom(stops, "/inbox", 1, false)).toBe("/channels/a");
  expect(stepFrom(stops, "/inbox", -1, false)).toBe("/dm/d");
});

test("what has nothing new is left out, and if nothing is new one stays", () => {
  expect(stepFrom(stops, "/channels/a", 1, true)).toBe("/channels/b");
  expect(stepFrom(stops, "/channels/b", 1, true)).toBe("/dm/d");
  expect(stepFrom(stops, "/inbox", -1, true)).toBe("/dm/d");
  const read = stops.map((stop) => ({ ...stop, isUnread: false }));
  expect(stepFrom(read, "/inbox", 1, true)).toBeUndefined();
  expect(stepFrom([], "/inbox", 1, false)).toBeUndefined();
  expect(stepFrom(stops.slice(0, 1), "/channels/a", 1, false)).toBeUndefined();
});
