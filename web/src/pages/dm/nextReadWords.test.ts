import { expect, test } from "vitest";

import type { Run } from "../../api/runs";
import type { Agent } from "../../api/types";
import { nextReadWords } from "./nextReadWords";

const AT = "2026-01-01T00:00:00Z";
const agent = (more: object) => ({ name: "scribe", trigger_mode: "reactive", ...more }) as Agent;
const words = (one: Agent, isWorking = false, run?: { id: number; status?: Run["status"] }) =>
  nextReadWords(one, "Scribe", run && { status: "running", deferred_until: null, ...run }, isWorking)?.text;

test("an agent that works says when it reads the next message", () => {
  expect(words(agent({}), false, { id: 4 })).toBe("Scribe is working. It reads your next message when run 4 ends.");
  expect(words(agent({}), false, { id: 4, status: "deferred" })).toBe("Scribe waits for the provider of its model and reads your next message then. Starts again by itself.");
  expect(words(agent({ trigger_mode: "passive" }), true)).toBe("Scribe is working. It reads your next message when it checks its inbox again.");
  expect(words(agent({ trigger_mode: "passive" }))).toBeUndefined();
});

test("an agent that the hub does not start still reads while it is paused", () => {
  expect(words(agent({ paused_at: AT }))).toBe("Scribe is paused. It starts nothing until you resume it.");
  expect(words(agent({ paused_at: AT, trigger_mode: "passive" }))).toBe("Scribe is paused. Its client can still read your messages.");
  expect(words(agent({ paused_at: AT, quarantined_at: AT }))).toBe("Scribe is quarantined: Stoa stopped it after too many rejections. It starts nothing until you release it on its page.");
});
