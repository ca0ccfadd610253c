// @vitest-environment jsdom

import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import type { LiveEvent } from "../live/stream";
import { agentsHandler } from "./streamHandler";

test("your agent is reloaded when it leaves a channel, because it may be deleted; other agents are not", () => {
  const client = new QueryClient();
  client.setQueryData(["me"], { user: { username: "mira" }, agents: [{ name: "scout" }] });
  client.setQueryData(["agent", "scout"], {});
  const isStale = () => client.getQueryState(["agent", "scout"])?.isInvalidated;
  const left = (member: string) => ({ name: "channel", data: { change: "member_removed", name: "general", member } }) as LiveEvent;
  agentsHandler.events.channel(client, left("scribe"));
  expect(isStale()).toBe(false);
  agentsHandler.events.channel(client, left("scout"));
  expect(isStale()).toBe(true);
});

test("presence is noted wherever an agent is shown", () => {
  const client = new QueryClient();
  client.setQueryData(["agents", "list"], [{ name: "scout" }, { name: "scribe" }]);
  client.setQueryData(["agent", "scout"], { agent: { name: "scout" }, etag: null });
  client.setQueryData(["presences"], new Map([["scribe", "offline"]]));
  client.setQueryData(["me"], { user: { username: "mira" }, agents: [{ name: "scout" }] });
  const last_seen_at = "2025-01-01T00:00:00Z";
  agentsHandler.events.presence(client, { name: "presence", data: { name: "scout", online: true, last_seen_at } });
  expect(client.getQueryData(["presence", "scout"])).toEqual({ isOnline: true, lastSeenAt: last_seen_at });
  expect(client.getQueryData(["agents", "list"])).toEqual([{ name: "scout", last_seen_at }, { name: "scribe" }]);
  expect(client.getQueryData(["agent", "scout"])).toEqual({ agent: { name: "scout", last_seen_at }, etag: null });
  expect(client.getQueryData(["presences"])).toEqual(new Map([["scribe", "offline"], ["scout", "online"]]));
  expect(client.getQueryData(["me"])).toEqual({ user: { username: "mira" }, agents: [{ name: "scout", last_seen_at }] });
  const me = client.getQueryData(["me"]);
  agentsHandler.events.presence(client, { name: "presence", data: { name: "scout", presence: "working", last_seen_at: "2025-01-01T00:01:00Z" } });
  expect(client.getQueryData(["presence", "scout"])).toEqual({ isOnline: true, lastSeenAt: "2025-01-01T00:01:00Z" });
  expect((client.getQueryData(["presences"]) as Map<string, string>).get("scout")).toBe("working");
  expect(client.getQueryData(["me"])).toBe(me);
  agentsHandler.events.presence(client, { name: "presence", data: { name: "scout", presence: "online", last_seen_at: "2025-01-01T00:02:00Z" } });
  expect((client.getQueryData(["presences"]) as Map<string, string>).get("scout")).toBe("working");
});
