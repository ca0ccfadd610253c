// @vitest-environment jsdom

import { describe, expect, it } from "vitest";

import type { Trace } from "../api/agents";
import type { Agent } from "../api/types";
import { BARS, barsOf, byAgent, spanOf } from "./activity";
import { chainOf } from "./chain";
import { addressOf, commandOf, shortened, textOf, withKey } from "./clients";
import { contactOf, surfaceOf, usedWith } from "./contact";
import { bySeen, filterAgents } from "./filter";
import { READS, expiryOf, keyState, summaryOf } from "./keys";
import { standing } from "./statuses";
import { agentTab } from "./tabs";
import { isUnconnected } from "./unconnected";
import { toName } from "./welcome";

const agent: Agent = {
  id: 3,
  name: "scout",
  display_name: "Scout",
  owner: "mira",
  archetype: "researcher",
  trigger_mode: "reactive",
  cooldown_seconds: 30,
  budget: { runs_per_day: 100, cost_usd_per_day: null, others_percent: 50 },
  max_trigger_depth: 4,
  max_round_trips: 12,
  k8s_image: null,
  harness: null,
  instructions: "",
  pending_work: false,
  paused_at: null,
  pause_reason: null,
  quarantined_at: null,
  last_seen_at: null,
  created_at: "2026-01-01T00:00:00.000Z",
};

const trace = (id: number, at: string, more: Partial<Trace> = {}): Trace => ({
  id,
  agent: "scout",
  action: "my_status",
  details: {},
  error: null,
  duration_ms: 1,
  request_id: null,
  run_id: null,
  created_at: at,
  ...more,
});

describe("activity", () => {
  const now = Date.parse("2026-01-02T10:30:00Z");

  it("is the last day by hours when all of it is loaded", () => {
    const items = [trace(3, "2026-01-02T10:29:00Z"), trace(2, "2026-01-02T10:01:00Z", { error: "denied" }), trace(1, "2026-01-01T11:00:00Z")];
    const span = spanOf({ items, total: 3 }, now);
    expect(span.isWhole).toBe(true);
    const bars = barsOf(items, span);
    expect(bars).toHaveLength(BARS);
    expect(bars[0]?.calls).toBe(1);
    expect(bars.at(-1)).toMatchObject({ calls: 2, failed: 1 });
  });

  it("goes back only as far as what is loaded", () => {
    const items = [trace(3, "2026-01-02T10:29:00Z"), trace(2, "2026-01-02T10:00:00Z")];
    const span = spanOf({ items, total: 900 }, now);
    expect(span).toEqual({ from: Date.parse("2026-01-02T10:00:00Z"), to: now, isWhole: false });
    expect(barsOf(items, span).reduce((sum, bar) => sum + bar.calls, 0)).toBe(2);
  });

  it("leaves out what its person did", () => {
    const groups = byAgent([trace(1, "2026-01-02T10:00:00Z"), trace(2, "2026-01-02T10:00:00Z", { agent: null })]);
    expect([...groups.keys()]).toEqual(["scout"]);
  });
});

describe("the chain before a run", () => {
  it("asks nothing after where it ends", () => {
    const outcomes = chainOf({ ...agent, trigger_mode: "passive" }).map((step) => step.outcome);
    expect(outcomes).toEqual(["passed", "rests", "unasked", "unasked", "unasked", "unasked"]);
  });

  it("is broken only by what is wrong", () => {
    const first = (more: Partial<Agent>) => chainOf({ ...agent, ...more }).find(({ outcome }) => !["passed", "later"].includes(outcome))?.outcome;
    expect(first({})).toBeUndefined();
    expect(first({ trigger_mode: "passive" })).toBe("rests");
    expect(first({ trigger_mode: "disabled" })).toBe("rests");
    expect(first({ paused_at: "2026-01-01T00:00:00Z" })).toBe("held");
    expect(first({ quarantined_at: "2026-01-01T00:00:00Z" })).toBe("stopped");
    expect(first({ max_trigger_depth: 0 })).toBe("stopped");
    expect(first({ budget: { runs_per_day: 0, cost_usd_per_day: null, others_percent: 50 } })).toBe("stopped");
  });

  it("lets quarantine come before a pause", () => {
    const both = { ...agent, paused_at: "2026-01-01T00:00:00Z", quarantined_at: "2026-01-01T00:00:00Z" };
    expect(standing(both)).toBe("quarantined");
    expect(chainOf(both)[0]?.outcome).toBe("stopped");
  });
});

describe("settings of clients", () => {
  const key = "stoa_agent_$&0123456789abcdefghijklmnop";

  it("get the key in place of the variable", () => {
    const settings = { mcpServers: { stoa: { url: "http://hub/mcp", headers: { Authorization: "Bearer ${STOA_MCP_KEY}" } } } };
    expect(JSON.parse(withKey(settings, key)!).mcpServers.stoa.headers.Authorization).toBe(`Bearer ${key}`);
    expect(addressOf(settings)).toBe("http://hub/mcp");
  });

  it("do not ask for a key that they have", () => {
    const settings = { inputs: [{ id: "stoa-key" }], servers: { stoa: { headers: { Authorization: "Bearer ${input:stoa-key}" } } } };
    expect(JSON.parse(withKey(settings, key)!)).toEqual({ servers: { stoa: { headers: { Authorization: `Bearer ${key}` } } } });
  });

  it("of Codex are TOML", () => {
    const settings = { toml: '[mcp_servers.stoa]\nurl = "http://hub/mcp"\nbearer_token_env_var = "STOA_MCP_KEY"\n' };
    expect(textOf(settings)).toContain("bearer_token_env_var");
    expect(withKey(settings, key)).toBe(
      `[mcp_servers.stoa]\nurl = "http://hub/mcp"\nhttp_headers = { Authorization = "Bearer ${key}" }`,
    );
    expect(addressOf(settings)).toBe("http://hub/mcp");
  });

  it("stay as they are where there is no place for a key", () => {
    expect(withKey({ mcpServers: { stoa: { url: "http://hub/mcp" } } }, key)).toBeNull();
  });

  it("are a command where a client has one", () => {
    expect(commandOf("claude-code", "http://hub/mcp", "oauth", null)).toBe("claude mcp add --transport http stoa http://hub/mcp");
    expect(commandOf("claude-code", "http://hub/mcp", "key", null)).toContain("Bearer $STOA_MCP_KEY");
    expect(commandOf("cursor", "http://hub/mcp", "key", key)).toBeNull();
  });

  it("show only the ends of a key", () => {
    expect(shortened(key)).toBe("stoa_agent_$&01…mnop");
  });
});

describe("contact", () => {
  const start = { lastSeenAt: "2026-01-01T00:00:00Z", lastCall: 7 };
  const still = { lastSeenAt: start.lastSeenAt, isOnline: false, calls: [trace(7, "2026-01-01T00:00:00Z")], at: Date.parse("2026-01-02T00:00:00Z") };

  it("is not there with an agent that was never heard of", () => {
    const none = { lastSeenAt: null, isOnline: false, calls: [], at: still.at };
    expect(contactOf({ lastSeenAt: null, lastCall: 0 }, none)).toEqual({ isConnected: false, isFresh: false, seenAt: null, last: null, calls: [] });
  });

  it("that was before is told, and is not new", () => {
    expect(contactOf(start, still)).toMatchObject({ isConnected: true, isFresh: false, seenAt: start.lastSeenAt, last: { id: 7 }, calls: [] });
    expect(contactOf(start, { ...still, calls: [] })).toMatchObject({ isConnected: true, isFresh: false, last: null });
  });

  it("is fresh by a call, by presence, or by being seen anew", () => {
    const calls = [trace(9, "2026-01-02T00:00:02Z"), trace(8, "2026-01-02T00:00:01Z"), ...still.calls];
    expect(contactOf(start, { ...still, calls })).toMatchObject({
      isFresh: true,
      seenAt: "2026-01-02T00:00:02Z",
      last: { id: 9 },
      calls: [{ id: 8 }, { id: 9 }],
    });
    expect(contactOf(start, { ...still, isOnline: true }).isFresh).toBe(true);
    expect(contactOf(start, { ...still, lastSeenAt: "2026-01-01T12:00:00Z" })).toMatchObject({ isFresh: true, seenAt: "2026-01-01T12:00:00Z" });
  });

  it("tells by which way and with what", () => {
    const details = (value: object) => trace(1, start.lastSeenAt, { details: value as Trace["details"] });
    expect(surfaceOf(details({ surface: "mcp" }))).toBe("MCP");
    expect(surfaceOf(details({ method: "POST", path: "/api/messages" }))).toBe("the HTTP API");
    expect(surfaceOf(details({ truncated: true }))).toBeNull();
    const then = { label: "Claude Code", at: "2026-01-01T00:00:20Z" };
    expect(usedWith(start.lastSeenAt, [then, { label: "ci", at: "2025-12-01T00:00:00Z" }, { label: "new", at: null }])).toBe("Claude Code");
    expect(usedWith(start.lastSeenAt, [then, { label: "ci", at: start.lastSeenAt }])).toBeNull();
  });

  it("still holds for who was here a moment ago", () => {
    expect(contactOf(start, { ...still, at: Date.parse("2026-01-01T00:00:30Z") }).isFresh).toBe(true);
  });
});

describe("keys", () => {
  it("say in few words what they may do", () => {
    expect(summaryOf(["*"])).toBe("full access");
    expect(summaryOf([...READS])).toBe("read only");
    expect(summaryOf(["messages:read", "wiki:write"])).toBe("messages:read, wiki:write");
  });

  it("end when they should", () => {
    expect(expiryOf(0)).toBeNull();
    expect(expiryOf(7, 0)).toBe("1970-01-08T00:00:00.000Z");
    const key = { id: 1, name: "ci", agent: "scout", permissions: ["*" as const], channels: [], limited: false, status: "active" as const, created_at: "", expires_at: "2026-01-01T00:00:00Z" };
    expect(keyState(key, Date.parse("2026-01-02T00:00:00Z"))).toBe("expired");
    expect(keyState({ ...key, status: "revoked" }, 0)).toBe("revoked");
    expect(keyState(key, 0)).toBe("active");
  });
});

describe("lists and names", () => {
  it("filters by text and standing", () => {
    const agents = [agent, { ...agent, name: "scribe", display_name: "Scribe", archetype: "writer" as const, paused_at: "2026-01-01T00:00:00Z" }];
    expect(filterAgents(agents, " SCO ", undefined).map((one) => one.name)).toEqual(["scout"]);
    expect(filterAgents(agents, "", "paused").map((one) => one.name)).toEqual(["scribe"]);
    expect(filterAgents(agents, "writer", undefined).map((one) => one.name)).toEqual(["scribe"]);
  });

  it("puts those first that were seen last", () => {
    const known = (name: string, last_seen_at: string | null) => ({ ...agent, name, last_seen_at });
    const agents = [known("never", null), known("a", null), known("old", "2026-01-01T00:00:00Z"), known("new", "2026-02-01T00:00:00Z")];
    expect(bySeen(agents).map(({ name }) => name)).toEqual(["new", "old", "a", "never"]);
  });

  it("makes names that the hub takes", () => {
    expect(toName("  My Scóut 2! ")).toBe("my-scout-2");
    expect(toName("-_x")).toBe("x");
  });

  it("knows only its own tabs", () => {
    expect(agentTab("keys")).toBe("keys");
    expect(agentTab("nothing")).toBeUndefined();
  });
});

describe("an agent that was never connected", () => {
  it("is one that waits for a program that nobody has started", () => {
    const created: Agent = { ...agent, trigger_mode: "passive", harness: null, last_seen_at: null, paused_at: null, quarantined_at: null };
    expect(isUnconnected(created)).toBe(true);
    expect(isUnconnected({ ...created, last_seen_at: "2026-01-01T00:00:00Z" })).toBe(false);
    expect(isUnconnected({ ...created, trigger_mode: "reactive" })).toBe(false);
    expect(isUnconnected({ ...created, paused_at: "2026-01-01T00:00:00Z" })).toBe(false);
  });
});
