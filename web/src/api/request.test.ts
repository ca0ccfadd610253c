// @vitest-environment jsdom

import { expect, test } from "vitest";

import { addressOf } from "./request";

test("an address has the values for its parts and its query", () => {
  expect(addressOf("/api/channels/{name}", { path: { name: "a/b c" } })).toBe("/api/channels/a%2Fb%20c");
  expect(addressOf("/api/runs", { query: { status: "running,waiting", limit: 1, agent: undefined, offset: null } })).toBe("/api/runs?status=running%2Cwaiting&limit=1");
  expect(addressOf("/api/runs", { query: { agent: ["one", "two"] } })).toBe("/api/runs?agent=one&agent=two");
  expect(addressOf("/auth/me")).toBe("/auth/me");
});
