import { expect, test } from "vitest";

import type { SidebarConversation } from "./sections";
import { rowsWithin, sharesOf } from "./shares";

const row = (name: string, more: Partial<SidebarConversation> = {}): SidebarConversation => ({ id: `channel:${name}`, kind: "channel", name, unread: 0, latest: 0, ...more });
const names = (rows: ReadonlyArray<{ name: string }>) => rows.map(({ name }) => name);

test("short sections show everything, and long ones share the rest", () => {
  expect(sharesOf([2, 3, 4], 20)).toEqual([2, 3, 4]);
  expect(sharesOf([0, 20, 3, 4], 17)).toEqual([0, 10, 3, 4]);
  expect(sharesOf([20, 20], 11)).toEqual([6, 5]);
});

test("every section shows a few, however low the window is", () => {
  expect(sharesOf([20, 2, 20], -5)).toEqual([4, 2, 4]);
});

test("the open conversation, unread and recent ones are shown, in their order", () => {
  const rows = [row("new", { unread: 1 }), row("a", { latest: 3 }), row("b"), row("c", { latest: 9 }), row("open")];
  expect(names(rowsWithin(rows, 4, ({ name }) => name === "open"))).toEqual(["new", "c", "open"]);
  expect(names(rowsWithin(rows, 5, () => false))).toEqual(names(rows));
});
