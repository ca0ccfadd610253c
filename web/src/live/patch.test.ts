import { expect, test } from "vitest";

import type { Message } from "../api/types";
import { merge } from "./patch";

const message = (id: number, body = "x") => ({ id, body }) as Message;

test("messages are merged by id, in order, and the newer text counts", () => {
  const known = [message(2), message(4)];
  const merged = merge(known, [message(5), message(4, "changed"), message(1)]);
  expect(merged.map(({ id, body }) => [id, body])).toEqual([[1, "x"], [2, "x"], [4, "changed"], [5, "x"]]);
  expect(merge(known, [])).toBe(known);
});
