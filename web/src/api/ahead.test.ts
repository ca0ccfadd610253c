import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import FIRST from "../../public/first.js?raw";
import { isAhead, takeAhead } from "../shell/ahead";
import { aroundQuery, channelQuery, conversationQuery, meQuery } from "./queries";

const asked = vi.fn((_path: RequestInfo | URL) => Promise.resolve(Response.json({ items: [] })));

function openPage(path: string): QueryClient {
  history.replaceState(null, "", path);
  // As the browser does with the script at the top of the page.
  new Function(FIRST)();
  const client = new QueryClient();
  takeAhead(client);
  return client;
}

beforeEach(() => {
  vi.stubGlobal("fetch", asked);
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  vi.unstubAllGlobals();
  asked.mockClear();
  delete window.ahead;
  history.replaceState(null, "", "/");
});

test("what a conversation needs is asked for once, before the scripts are there", async () => {
  const client = openPage("/channels/general?at=3");
  await isAhead();
  expect(asked.mock.calls.map(([path]) => path)).toEqual(["/auth/me", "/api/channels/general/messages?limit=50", "/api/channels/general"]);
  const place = { kind: "channel", name: "general" } as const;
  for (const { queryKey } of [meQuery, conversationQuery(place), channelQuery("general")]) expect(client.getQueryData(queryKey)).toBeDefined();
  expect(window.ahead?.answers.size).toBe(0);
});

test("a DM, too", async () => {
  const client = openPage("/dm/scout");
  await isAhead();
  expect(asked.mock.calls.map(([path]) => path)).toEqual(["/auth/me", "/api/dm/scout/messages?limit=50"]);
  expect(client.getQueryData(conversationQuery({ kind: "dm", name: "scout" }).queryKey)).toBeDefined();
});

test("elsewhere, only who looks at the page", async () => {
  for (const path of ["/inbox", "/dm/scout?as=tester", "/channels/general/settings", "/channels/%2e%2e"]) {
    asked.mockClear();
    openPage(path);
    await isAhead();
    expect(asked.mock.calls.map(([path]) => path)).toEqual(["/auth/me"]);
  }
});

test("an answer is taken once, and what was not asked is asked", async () => {
  const client = openPage("/inbox");
  await isAhead();
  await client.fetchQuery({ ...meQuery, staleTime: 0 });
  expect(asked).toHaveBeenCalledTimes(2);
});

test("the first unread message is asked for, too, if it is far from the end", async () => {
  const items = Array.from({ length: 50 }, (_, index) => ({ id: 101 + index }));
  const answer = (path: RequestInfo | URL) => {
    const url = new URL(path instanceof Request ? path.url : path, location.origin);
    if (url.pathname.endsWith("/messages")) return { items: url.searchParams.has("after") ? [{ id: 1 }] : items };
    return { channel: { is_member: true } };
  };
  asked.mockImplementation((path) => Promise.resolve(Response.json(answer(path))));
  const client = openPage("/channels/general");
  await isAhead();
  const place = { kind: "channel", name: "general" } as const;
  expect(client.getQueryData(aroundQuery(place, 0).queryKey)).toMatchObject({ items: [{ id: 1 }], hasOlder: false });
});
