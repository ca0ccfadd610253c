// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

import { aroundQuery, conversationQuery } from "./api/queries";
import type { Message } from "./api/types";
import { handleEvent } from "./live/handlers";
import type { LiveEvent } from "./live/stream";
import { streamHandlers } from "./streamHandlers";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const message = (id: number, body = "x") => ({ id, body }) as Message;

test("many events cause few requests, and the latest state is shown", async () => {
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
  const [{ handleEvent }, { streamHandlers }, queries] = await Promise.all([
    import("./live/handlers"),
    import("./streamHandlers"),
    import("./api/queries"),
  ]);
  const send = (event: LiveEvent) => handleEvent(streamHandlers, client, event);
  const one = queries.messageQuery(1);
  client.setQueryData(one.queryKey, message(1));
  const lists = [queries.unreadQuery.queryKey, queries.partnersQuery.queryKey, queries.threadsQuery.queryKey, queries.repliesQuery(1).queryKey];
  const invalidated = vi.spyOn(client, "invalidateQueries");
  for (body = 1; body < 500; body++) {
    send({ name: "reaction", data: { message_id: 1 } });
    send({ name: "unread_update", data: { kind: "dm", name: "scout" } });
    send({ name: "new_message", data: { from: { name: "scout" }, to: "ada", message_id: body, reply_to: 1 } });
  }
  await vi.waitFor(() => expect(client.getQueryData<Message>(one.queryKey)?.body).toBe(String(body)));
  expect(asked.length).toBeLessThan(4);
  for (const queryKey of lists) {
    const times = invalidated.mock.calls.filter(([filter]) => JSON.stringify(filter?.queryKey) === JSON.stringify(queryKey));
    expect(times).toHaveLength(1);
  }
});

test("a resync reloads everything except parts from the middle of a conversation", async () => {
  const client = new QueryClient();
  const place = { kind: "channel", name: "general" } as const;
  const [end, part] = [conversationQuery(place), aroundQuery(place, 7)];
  const data = { items: [], hasOlder: false, lastRead: null, starts: [] };
  for (const query of [end, part]) await client.prefetchQuery({ ...query, queryFn: () => data, gcTime: 60_000 } as typeof end);
  client.setQueryData(["settings"], {});
  handleEvent(streamHandlers, client, { name: "resync", data: {} });
  const isReloaded = (queryKey: readonly unknown[]) => client.getQueryState(queryKey)?.isInvalidated;
  expect([end.queryKey, ["settings"], part.queryKey].map(isReloaded)).toEqual([true, true, false]);
});
