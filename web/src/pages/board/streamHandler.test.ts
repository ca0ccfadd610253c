// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import type { Message } from "../../api/types";
import { findCard } from "../../workflow/cards";
import { boardHandler } from "./streamHandler";

const key = (state: string) => ["board", "channel:work", state];
const column = (...items: Partial<Message>[]) => ({ pages: [{ items, next: null }], pageParams: [null] });

test("a reaction moves a card that is loaded, and the columns are not reloaded", () => {
  const client = new QueryClient();
  client.setQueryData(key("proposed"), column({ id: 1, channel: "work", workflow_state: "proposed", reply_count: 0 }));
  client.setQueryData(key("done"), column());
  const isReloaded = () => client.getQueryState(key("done"))?.isInvalidated;
  boardHandler.events.reaction(client, { name: "reaction", data: { message_id: 1, workflow_state: "done", reactions: [] } });
  boardHandler.events.new_message(client, { name: "new_message", data: { channel: "work", message_id: 2, reply_to: 1 } });
  // A mention puts a copy into an inbox, which is no reply.
  boardHandler.events.new_message(client, { name: "new_message", data: { channel: null, to: "scout", message_id: 3, reply_to: 1 } });
  boardHandler.events.message_updated(client, { name: "message_updated", data: { message_id: 1, status: "done" } });
  expect(findCard(client, 1)).toMatchObject({ workflow_state: "done", reply_count: 1 });
  expect(isReloaded()).toBe(false);
  boardHandler.events.reaction(client, { name: "reaction", data: { message_id: 3, workflow_state: "done", reactions: [] } });
  expect(isReloaded()).toBe(true);
});
