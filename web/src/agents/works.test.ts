import { expect, test } from "vitest";

import { howItWorks, nextStepOf } from "./works";

const agent = { trigger_mode: "passive" as const, harness: null, last_seen_at: null, paused_at: null, quarantined_at: null };
const command = { backend: "subprocess" as const, command: ["date"] };
const seen = { ...agent, last_seen_at: "2026-01-01T00:00:00Z" };

test("an agent says what a message does to it", () => {
  expect(howItWorks(agent, 0)).toMatch(/No client has connected yet/);
  expect(howItWorks(seen, 0)).toMatch(/Its client reads the inbox/);
  expect(howItWorks(agent, 1)).toMatch(/calls its webhook when/);
  expect(howItWorks(seen, 2)).toMatch(/calls its 2 webhooks when/);
  expect(howItWorks({ ...agent, trigger_mode: "reactive", harness: command }, 0)).toMatch(/starts its command/);
  expect(howItWorks({ ...agent, trigger_mode: "reactive", harness: { backend: "subprocess", adapter: "claude-code" } }, 0)).toMatch(/starts Claude Code on the server/);
  expect(howItWorks({ ...agent, trigger_mode: "reactive", harness: { backend: "webhook", url: "https://x.example/" } }, 1)).toMatch(/calls its webhook, and the answer/);
  expect(howItWorks({ ...agent, trigger_mode: "disabled" }, 1)).toMatch(/Switched off/);
  expect(howItWorks({ ...seen, paused_at: "2026-01-01T00:00:00Z" }, 0)).toMatch(/until you resume it/);
});

test("an agent that cannot work yet names the next step", () => {
  expect(nextStepOf(agent)).toEqual({ label: "Connect a client", tab: "connect" });
  expect(nextStepOf({ ...agent, trigger_mode: "reactive" })).toEqual({ label: "Choose what runs", tab: "runs" });
  expect(nextStepOf(seen)).toBeNull();
  expect(nextStepOf({ ...agent, paused_at: "2026-01-01T00:00:00Z" })).toBeNull();
});
