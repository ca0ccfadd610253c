import { expect, test } from "vitest";

import type { Channel, Me, Message } from "../api/types";
import { finishFault, seatIn } from "./seat";

const me = (username: string, role = "member") => ({ user: { username, role } }) as unknown as Me;
const channels = [{ name: "work", owner: "ada", is_member: true }, { name: "open", owner: "ada", is_member: false }] as Channel[];

test("an administrator has the seat of the owner", () => {
  expect(seatIn(channels, me("ada"), { channel: "open" })).toBe("owner");
  expect(seatIn(channels, me("eve", "admin"), { channel: "open" })).toBe("owner");
  expect(seatIn(channels, me("bob"), { channel: "work" })).toBe("member");
  expect(seatIn(channels, me("bob"), { channel: "open" })).toBe("guest");
});

test("what the page has not loaded, and direct messages, have no seat", () => {
  expect(seatIn(undefined, me("ada"), { channel: "work" })).toBeUndefined();
  expect(seatIn(channels, undefined, { channel: "work" })).toBeUndefined();
  expect(seatIn(channels, me("ada"), { channel: "other" })).toBeUndefined();
  expect(seatIn(channels, me("eve", "admin"), { channel: null })).toBeUndefined();
});

test("a guest does not finish what somebody else has claimed", () => {
  const claimed = { channel: "open", reactions: [{ reaction: "in_progress", from: { name: "bob" } }] } as unknown as Message;
  const free = { ...claimed, reactions: [] };
  for (const reaction of ["done", "published"] as const) {
    expect(finishFault(claimed, reaction, "cy", "guest")).toBe(`@bob claimed this. Only they or a member of #open can mark it ${reaction}.`);
    expect(finishFault(claimed, reaction, "bob", "guest")).toBeUndefined();
    expect(finishFault(free, reaction, "cy", "guest")).toBeUndefined();
    for (const seat of ["member", "owner", undefined] as const) expect(finishFault(claimed, reaction, "cy", seat)).toBeUndefined();
  }
  for (const reaction of ["approve", "reject", "in_progress"] as const) expect(finishFault(claimed, reaction, "cy", "guest")).toBeUndefined();
});
