// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { searchHandler } from "./streamHandler";

test("a search is repeated only when one of its results changes", () => {
  const client = new QueryClient();
  client.setQueryData(["search", "x"], { pages: [{ items: [{ id: 1 }] }], pageParams: [null] });
  const isReloaded = () => client.getQueryState(["search", "x"])?.isInvalidated;
  searchHandler.events.message_updated(client, { name: "message_updated", data: { message_id: 2 } });
  expect(isReloaded()).toBe(false);
  searchHandler.events.message_updated(client, { name: "message_updated", data: { message_id: 1 } });
  expect(isReloaded()).toBe(true);
});
