// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

import { type Conversation, conversationQuery } from "../api/queries";
import type { Message } from "../api/types";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const message = (id: number, body = "x") => ({ id, body }) as Message;

test("a burst of messages is fetched in few requests, and none is missed", async () => {
  const client = new QueryClient();
  const { queryKey } = conversationQuery({ kind: "channel", name: "general" });
  client.setQueryData<Conversation>(queryKey, { items: [message(1)], hasOlder: false, lastRead: null, starts: [] });
  let latest = 1;
  let asked = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    asked += 1;
    const after = Number(new URL(request.url).searchParams.get("after"));
    const items = Array.from({ length: Math.min(200, latest - after) }, (_, at) => message(after + 1 + at));
    await new Promise((resolve) => setTimeout(resolve, 5));
    return Response.json({ items, last_read_message_id: null });
  });
  // The API client keeps the `fetch` of the moment when its module is loaded.
  vi.resetModules();
  const { messagesHandler } = await import("./streamHandler");
  for (latest = 2; latest < 500; latest++) messagesHandler.events.new_message(client, { name: "new_message", data: { channel: "general", message_id: latest } });
  await vi.waitFor(() => expect(client.getQueryData<Conversation>(queryKey)?.items.at(-1)?.id).toBe(latest));
  expect(client.getQueryData<Conversation>(queryKey)?.items.map(({ id }) => id)).toEqual(Array.from({ length: latest }, (_, at) => at + 1));
  expect(asked).toBeLessThan(6);
});

test("an event that arrives while a conversation loads is not missed", async () => {
  const client = new QueryClient();
  let latest = 1;
  const held: Array<() => void> = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const after = Number(new URL(request.url).searchParams.get("after") ?? 0);
    const items = Array.from({ length: latest - after }, (_, at) => message(after + 1 + at));
    await new Promise<void>((resolve) => held.push(resolve));
    return Response.json({ items, last_read_message_id: null });
  });
  vi.resetModules();
  const [{ messagesHandler }, queries] = [await import("./streamHandler"), await import("../api/queries")];
  const query = queries.conversationQuery({ kind: "channel", name: "general" });
  void client.prefetchQuery(query);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  latest = 2;
  messagesHandler.events.new_message(client, { name: "new_message", data: { channel: "general", message_id: 2 } });
  const ids = () => client.getQueryData<Conversation>(query.queryKey)?.items.map(({ id }) => id);
  const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 5);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2]));
  // There is no event for the third message: the stream was not open yet.
  latest = 3;
  messagesHandler.catchUp(client);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3]));
  clearInterval(letGo);
});

test("the copy of a mention in an inbox is no reply", async () => {
  const client = new QueryClient();
  vi.stubGlobal("fetch", async () => Response.json({ items: [], last_read_message_id: null }));
  vi.resetModules();
  const { messagesHandler } = await import("./streamHandler");
  const { queryKey } = conversationQuery({ kind: "channel", name: "general" });
  const asked = { ...message(1), channel: "general", reply_count: 0 };
  client.setQueryData<Conversation>(queryKey, { items: [asked], hasOlder: false, lastRead: null, starts: [] });
  const count = () => client.getQueryData<Conversation>(queryKey)?.items[0]?.reply_count;
  messagesHandler.events.new_message(client, { name: "new_message", data: { message_id: 2, channel: null, from: { name: "mira" }, to: "scout", reply_to: 1 } });
  expect(count()).toBe(0);
  messagesHandler.events.new_message(client, { name: "new_message", data: { message_id: 3, channel: "general", reply_to: 1 } });
  expect(count()).toBe(1);
});
