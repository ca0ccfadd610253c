// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

import { type Conversation, conversationQuery } from "../api/queries";
import type { Message } from "../api/types";
import { merge, patch } from "./patch";
import type { LiveEvent } from "./stream";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const message = (id: number, body = "x") => ({ id, body }) as Message;

test("messages are merged by id, in order, and the newer text counts", () => {
  const known = [message(2), message(4)];
  const merged = merge(known, [message(5), message(4, "changed"), message(1)]);
  expect(merged.map(({ id, body }) => [id, body])).toEqual([[1, "x"], [2, "x"], [4, "changed"], [5, "x"]]);
  expect(merge(known, [])).toBe(known);
});

test("news that comes in order is put at the end", () => {
  const known = [message(2), message(4)];
  expect(merge(known, [message(5), message(7)]).map(({ id }) => id)).toEqual([2, 4, 5, 7]);
  expect(merge(known, [message(7), message(5)]).map(({ id }) => id)).toEqual([2, 4, 5, 7]);
  expect(merge([], [message(1)]).map(({ id }) => id)).toEqual([1]);
});

test("a burst of news is fetched in few requests, and nothing of it is missed", async () => {
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
  // What asks the hub takes `fetch` when it is loaded.
  vi.resetModules();
  const { patch } = await import("./patch");
  for (latest = 2; latest < 500; latest++) patch(client, { name: "new_message", data: { channel: "general", message_id: latest } });
  await vi.waitFor(() => expect(client.getQueryData<Conversation>(queryKey)?.items.at(-1)?.id).toBe(latest));
  expect(client.getQueryData<Conversation>(queryKey)?.items.map(({ id }) => id)).toEqual(Array.from({ length: latest }, (_, at) => at + 1));
  expect(asked).toBeLessThan(6);
});

test("what is told while a conversation is being loaded is not missed", async () => {
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
  const [{ patch, catchUp }, queries] = [await import("./patch"), await import("../api/queries")];
  const query = queries.conversationQuery({ kind: "channel", name: "general" });
  void client.prefetchQuery(query);
  await vi.waitFor(() => expect(held).toHaveLength(1));
  latest = 2;
  patch(client, { name: "new_message", data: { channel: "general", message_id: 2 } });
  const ids = () => client.getQueryData<Conversation>(query.queryKey)?.items.map(({ id }) => id);
  const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 5);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2]));
  // Nobody tells of the third: the stream was not open yet.
  latest = 3;
  catchUp(client);
  await vi.waitFor(() => expect(ids()).toEqual([1, 2, 3]));
  clearInterval(letGo);
});

test("a storm of events is no storm of requests, and the last of it is shown", async () => {
  const client = new QueryClient();
  let body = 0;
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(new URL(request.url).pathname);
    const answer = Response.json({ id: 1, body: String(body) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    return answer;
  });
  vi.resetModules();
  const [{ patch }, queries] = [await import("./patch"), await import("../api/queries")];
  const one = queries.messageQuery(1);
  client.setQueryData(one.queryKey, message(1));
  const lists = [queries.unreadQuery.queryKey, queries.partnersQuery.queryKey, queries.threadsQuery.queryKey, queries.repliesQuery(1).queryKey];
  const invalidated = vi.spyOn(client, "invalidateQueries");
  for (body = 1; body < 500; body++) {
    patch(client, { name: "reaction", data: { message_id: 1 } });
    patch(client, { name: "unread_update", data: { kind: "dm", name: "scout" } });
    patch(client, { name: "new_message", data: { from: { name: "scout" }, to: "ada", message_id: body, reply_to: 1 } });
  }
  await vi.waitFor(() => expect(client.getQueryData<Message>(one.queryKey)?.body).toBe(String(body)));
  expect(asked.length).toBeLessThan(4);
  for (const queryKey of lists) {
    const times = invalidated.mock.calls.filter(([filter]) => JSON.stringify(filter?.queryKey) === JSON.stringify(queryKey));
    expect(times).toHaveLength(1);
  }
});

test("an agent that leaves a channel may be gone, so it is asked for anew; others' are not", () => {
  const client = new QueryClient();
  client.setQueryData(["me"], { user: { username: "mira" }, agents: [{ name: "scout" }] });
  client.setQueryData(["agent", "scout"], {});
  const isStale = () => client.getQueryState(["agent", "scout"])?.isInvalidated;
  const left = (member: string) => ({ name: "channel", data: { change: "member_removed", name: "general", member } }) as LiveEvent;
  patch(client, left("scribe"));
  expect(isStale()).toBe(false);
  patch(client, left("scout"));
  expect(isStale()).toBe(true);
});
