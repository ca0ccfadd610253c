import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { merge } from "./cache";

const message = (id: number, body = "x") => ({ id, body }) as Message;

test("messages are merged by id, in order, and the newer text counts", () => {
  const known = [message(2), message(4)];
  const merged = merge(known, [message(5), message(4, "changed"), message(1)]);
  expect(merged.map(({ id, body }) => [id, body])).toEqual([[1, "x"], [2, "x"], [4, "changed"], [5, "x"]]);
  expect(merge(known, [])).toBe(known);
});

test("new messages in order are added at the end", () => {
  const known = [message(2), message(4)];
  expect(merge(known, [message(5), message(7)]).map(({ id }) => id)).toEqual([2, 4, 5, 7]);
  expect(merge(known, [message(7), message(5)]).map(({ id }) => id)).toEqual([2, 4, 5, 7]);
  expect(merge([], [message(1)]).map(({ id }) => id)).toEqual([1]);
});
