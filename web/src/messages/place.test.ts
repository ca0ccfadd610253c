import { expect, test } from "vitest";

import type { Author, Me } from "../api/types";
import { placeOf } from "./place";

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
