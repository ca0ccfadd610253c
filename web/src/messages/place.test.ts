import { expect, test } from "vitest";

import type { Author, Me } from "../api/types";
import { isIn, placeOf } from "./place";

const me = { user: { username: "mira" }, agents: [{ name: "scout" }, { name: "scribe" }] } as unknown as Me;
const dm = (from: string, to: string) => placeOf({ channel: null, from: { name: from } as Author, to }, me);

test("a message is where the person can see it", () => {
  expect(placeOf({ channel: "ops", from: { name: "scout" } as Author, to: null }, me)).toEqual({ kind: "channel", name: "ops" });
  expect(dm("mira", "tomas")).toEqual({ kind: "dm", name: "tomas" });
  expect(dm("tomas", "mira")).toEqual({ kind: "dm", name: "tomas" });
  expect(dm("scout", "mira")).toEqual({ kind: "dm", name: "scout" });
  expect(dm("scout", "tomas")).toEqual({ kind: "dm", name: "tomas", as: "scout" });
  expect(dm("tomas", "scout")).toEqual({ kind: "dm", name: "tomas", as: "scout" });
  expect(dm("scout", "scribe")).toEqual({ kind: "dm", name: "scribe", as: "scout" });
});

test("a message is in one conversation and in no other", () => {
  const said = (from: string, to: string | null, channel: string | null = null) => ({ channel, from: { name: from } as Author, to });
  expect(isIn(said("scout", null, "ops"), { kind: "channel", name: "ops" }, "mira")).toBe(true);
  expect(isIn(said("scout", null, "ops"), { kind: "channel", name: "general" }, "mira")).toBe(false);
  expect(isIn(said("mira", null, "ops"), { kind: "dm", name: "mira" }, "mira")).toBe(false);
  expect(isIn(said("tomas", "mira"), { kind: "dm", name: "tomas" }, "mira")).toBe(true);
  expect(isIn(said("tomas", "scout"), { kind: "dm", name: "tomas" }, "mira")).toBe(false);
  // Two agents of hers: she sees it as either of them.
  expect(isIn(said("scout", "scribe"), { kind: "dm", name: "scout", as: "scribe" }, "mira")).toBe(true);
});
