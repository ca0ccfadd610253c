import { expect, test } from "vitest";

import type { ChannelDetails, Me, Member } from "../../api/types";
import { memberRights } from "./memberRights";

const details = { channel: { name: "work", owner: "ada" } } as unknown as ChannelDetails;
const me = (username: string, role = "member", agents: string[] = []) =>
  ({ user: { username, role }, agents: agents.map((name) => ({ name })) }) as unknown as Me;
const member = (name: string) => ({ name }) as Member;

test("owners and administrators remove everybody but the owner and themselves", () => {
  for (const [who, role] of [["ada", "member"], ["eve", "admin"]] as const) {
    const rights = memberRights(details, me(who, role));
    expect([rights.isManager, rights.mayAdd]).toEqual([true, true]);
    expect(rights.mayRemove(member("bob"))).toBe(true);
    expect(rights.mayRemove(member("ada"))).toBe(false);
    expect(rights.mayRemove(member(who))).toBe(false);
  }
});

test("others add and remove their own agents only", () => {
  const rights = memberRights(details, me("bob", "member", ["helper"]));
  expect([rights.isManager, rights.mayAdd]).toEqual([false, true]);
  expect(rights.mayRemove(member("helper"))).toBe(true);
  expect(rights.mayRemove(member("scout"))).toBe(false);
  expect(memberRights(details, me("cy")).mayAdd).toBe(false);
});
