import { expect, test } from "vitest";

import type { Conversation } from "../api/queries";
import type { Message } from "../api/types";
import { joined, withOlder } from "./parts";

const messages = (...ids: number[]) => ids.map((id) => ({ id }) as Message);
const conversation = (ids: number[], more: Partial<Conversation> = {}): Conversation => ({
  items: messages(...ids),
  hasOlder: true,
  lastRead: 7,
  starts: ids.slice(0, 1),
  ...more,
});
const ids = (found: Conversation | null) => found?.items.map(({ id }) => id);

test("a part that messages are missing after is not joined", () => {
  expect(joined(conversation([50, 51]), conversation([10, 11], { hasNewer: true }))).toBeNull();
});

test("a part that reaches the end is", () => {
  const whole = joined(conversation([50, 51]), conversation([48, 49, 50], { hasNewer: true, hasOlder: false, lastRead: null }));
  expect(ids(whole)).toEqual([48, 49, 50, 51]);
  expect(whole).toMatchObject({ hasOlder: false, lastRead: 7, starts: [50, 48] });
  expect(whole?.hasNewer).toBeUndefined();
});

test("so is one after which there was nothing more", () => {
  expect(ids(joined(conversation([50]), conversation([10, 11], { hasNewer: false })))).toEqual([10, 11, 50]);
  expect(ids(joined(conversation([]), conversation([10], { hasNewer: false })))).toEqual([10]);
});

test("one that lies within what is there adds nothing", () => {
  const whole = joined(conversation([10, 20, 30], { hasOlder: false }), conversation([20], { hasNewer: true }));
  expect(ids(whole)).toEqual([10, 20, 30]);
  expect(whole?.hasOlder).toBe(false);
});

test("when nothing came before, there is nothing before", () => {
  expect(withOlder(conversation([3]), [])).toMatchObject({ hasOlder: false, starts: [3] });
  expect(withOlder(conversation([3]), messages(1, 2))).toMatchObject({ hasOlder: true, starts: [3, 1] });
});
