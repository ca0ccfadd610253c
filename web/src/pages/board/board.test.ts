import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import type { Message } from "../../api/types";
import { findCard, moveCard, putCard } from "../../workflow/cards";
import { countWords } from "./BoardColumn";
import { isCard, passes } from "./filter";
import { boardSearch } from "./search";
import { nextCard } from "./steps";

const message = (id: number, more: object = {}) =>
  ({ id, workflow_state: "proposed", status: "pending", reactions: [], from: { name: "scribe" }, channel: "work", ...more }) as unknown as Message;

test("arrows lead from card to card, over columns that have none", () => {
  const grid = [[1, 2, 3], [], [4], [5, 6]];
  expect(nextCard(grid, 1, "ArrowDown")).toBe(2);
  expect(nextCard(grid, 1, "ArrowUp")).toBeUndefined();
  expect(nextCard(grid, 3, "ArrowRight")).toBe(4);
  expect(nextCard(grid, 4, "ArrowLeft")).toBe(1);
  expect(nextCard(grid, 6, "ArrowRight")).toBeUndefined();
  expect(nextCard(grid, 1, "Enter")).toBeUndefined();
});

test("the filter is what the address says, and nothing else", () => {
  expect(boardSearch({ by: 7, claimed: "", stale: true, rejected: "yes", other: 1 })).toEqual({
    by: "7",
    claimed: undefined,
    channel: undefined,
    stale: true,
    rejected: undefined,
  });
  const claimed = message(1, { reactions: [{ reaction: "in_progress", from: { name: "scout" } }] });
  expect(passes(claimed, { by: "scribe", claimed: "scout" }, false)).toBe(true);
  expect(passes(claimed, { claimed: "scribe" }, false)).toBe(false);
  expect(passes(claimed, { stale: true }, false)).toBe(false);
  expect(passes(claimed, { channel: "play" }, true)).toBe(false);
});

test("what was said before the workflow is no card until somebody reacts", () => {
  expect(isCard(message(1))).toBe(true);
  expect(isCard(message(1, { status: "done" }))).toBe(false);
  expect(isCard(message(1, { status: "done", workflow_state: "done" }))).toBe(true);
});

test("a count says what is shown, what is loaded, and that there is more", () => {
  const cards = [1, 2].map(() => ({}) as never);
  expect(countWords({ cards, loaded: 2, hasMore: false }, false)).toBe("2");
  expect(countWords({ cards, loaded: 50, hasMore: true }, true)).toBe("2 of 50+");
});

test("a card goes where its state is, on each board that has it", () => {
  const client = new QueryClient();
  const key = (scope: string, state: string) => ["board", scope, state];
  const column = (...ids: number[]) => ({ pages: [{ items: ids.map((id) => message(id)), next: null }], pageParams: [null] });
  client.setQueryData(key("channel:work", "proposed"), column(5, 3, 1));
  client.setQueryData(key("channel:work", "done"), column(4, 2));
  client.setQueryData(key("channel:play", "done"), column(9));
  expect(moveCard(client, 3, "done", [])).toBe(true);
  expect(moveCard(client, 77, "done", [])).toBe(false);
  const ids = (scope: string, state: string) =>
    client.getQueryData<ReturnType<typeof column>>(key(scope, state))!.pages.flatMap((page) => page.items.map(({ id }) => id));
  expect(ids("channel:work", "proposed")).toEqual([5, 1]);
  expect(ids("channel:work", "done")).toEqual([4, 3, 2]);
  expect(ids("channel:play", "done")).toEqual([9]);
  expect(findCard(client, 3)?.status).toBe("done");
  moveCard(client, 3, "proposed", []);
  expect(ids("channel:work", "proposed")).toEqual([5, 3, 1]);
  expect(findCard(client, 3)?.status).toBe("pending");
  putCard(client, { ...findCard(client, 3)!, reply_count: 2 });
  expect(findCard(client, 3)?.reply_count).toBe(2);
  expect(ids("channel:work", "proposed")).toEqual([5, 3, 1]);
});
