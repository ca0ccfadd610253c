import { describe, expect, it } from "vitest";

import type { Delivery } from "../api/runs";
import type { Me, Message } from "../api/types";
import { isAsking } from "../messages/asked";
import { askedAgents } from "./askedAgents";
import { inboxStatus } from "./inboxStatus";
import { isAskedAbout, isTold } from "./shownDelivery";

const me = {
  user: { username: "mira" },
  agents: [
    { name: "scribe", display_name: "Scribe", trigger_mode: "reactive" },
    { name: "reader", display_name: "", trigger_mode: "passive" },
  ],
} as Me;
const partners = [
  { name: "tomas", kind: "user", display_name: "Tomás" },
  { name: "critic", kind: "agent", display_name: "Critic" },
];
const message = (more: object) =>
  ({ from: { name: "mira" }, mentions: [], created_at: "2026-01-01T00:00:00Z", status: "pending", workflow_state: "proposed", ...more }) as unknown as Message;
const NOW = Date.parse("2026-01-01T12:00:00Z");
const LATER = Date.parse("2026-01-09T00:00:00Z");

describe("messages to agents", () => {
  it("are those that the person wrote to somebody", () => {
    expect(isAsking(message({ to: "scribe" }), me)).toBe(true);
    expect(isAsking(message({ mentions: ["tomas", "scribe"] }), me)).toBe(true);
    expect(isAsking(message({}), me)).toBe(false);
    expect(isAsking(message({ to: "scribe", from: { name: "tomas" } }), me)).toBe(false);
    expect(isAsking(message({ to: "scribe", deleted_at: "2026-01-01T00:00:00Z" }), me)).toBe(false);
    expect(isAsking(message({ to: "scribe" }), undefined)).toBe(false);
  });

  it("name agents of the person and of others, and no people", () => {
    const names = (more: object) => askedAgents(message(more), me, partners).map(({ name, displayName, own }) => `${name} ${displayName} ${own !== undefined}`);
    expect(names({ mentions: ["critic", "tomas", "reader", "critic", "nobody"] })).toEqual(["critic Critic false", "reader reader true"]);
    expect(names({ to: "tomas" })).toEqual([]);
    expect(names({ to: "scribe" })).toEqual(["scribe Scribe true"]);
  });

  it("are asked about while they are new or open", () => {
    expect(isAskedAbout(message({ workflow_state: "done" }), NOW)).toBe(true);
    expect(isAskedAbout(message({ workflow_state: "done" }), LATER)).toBe(false);
    expect(isAskedAbout(message({ workflow_state: "published" }), LATER)).toBe(false);
    expect(isAskedAbout(message({ status: "failed" }), LATER)).toBe(false);
    expect(isAskedAbout(message({}), LATER)).toBe(true);
  });

  it("show what the hub did about them only if there is something to say", () => {
    const item = (more: Partial<Delivery>): Delivery => ({ recipient: "scribe", state: "woken", run_id: 1, ...more });
    const [own, others] = [...askedAgents(message({ to: "scribe" }), me, partners), ...askedAgents(message({ to: "critic" }), me, partners)];
    const isShown = (more: Partial<Delivery>, agent = own!) => isTold(item(more), agent);
    expect(isShown({})).toBe(true);
    expect(isShown({ state: "not_woken", reason: "paused" })).toBe(true);
    expect(isShown({ state: "stored" })).toBe(false);
    expect(isShown({ state: "not_woken", reason: "passive" })).toBe(false);
    // The author learns why an agent of somebody else does not start, but sees none of its runs.
    expect(isShown({ state: "not_woken", reason: "sender" }, others)).toBe(true);
    expect(isShown({ state: "not_woken", reason: "passive" }, others)).toBe(false);
    expect(isShown({}, others)).toBe(false);
  });
});

describe("a message in the inbox of an agent", () => {
  const [reader, critic] = [...askedAgents(message({ to: "reader" }), me, partners), ...askedAgents(message({ to: "critic" }), me, partners)];
  const words = (more: object, agent = reader!, now = NOW) => {
    const { word, span, hint } = inboxStatus(message(more), agent, now);
    return [word, span, hint].filter(Boolean).join(" · ");
  };
  const at = (seconds: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1000).toISOString();

  it("waits, is worked on, and is done or has failed", () => {
    const soon = Date.parse(at(180));
    expect(words({}, reader, soon)).toBe("Waiting · 3 min · The agent reads it when it next checks its inbox.");
    expect(words({}, critic, soon)).toBe("Waiting · 3 min");
    expect(words({ status: "processing", status_since: at(60) }, critic, soon)).toBe("Working · 2 min");
    expect(words({ status: "done", status_since: at(52) })).toBe("Done · 52 s");
    expect(words({ status: "failed", status_since: at(48) })).toBe("Failed · after 48 s");
  });

  it("has no times if the hub does not know them", () => {
    expect(words({ status: "processing" })).toBe("Working");
    expect(words({ status: "done", status_since: null })).toBe("Done");
    expect(words({ status: "failed" })).toBe("Failed");
  });

  it("waits for an agent that may not work, and says so", () => {
    const paused = { ...reader!, own: { ...reader!.own!, paused_at: at(0) } };
    expect(words({}, paused, Date.parse(at(5)))).toBe("Waiting · 5 s · The agent is paused: resume it on its page.");
  });
});
