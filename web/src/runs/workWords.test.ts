import { describe, expect, it } from "vitest";

import type { Delivery, Run } from "../api/runs";
import type { Message } from "../api/types";
import type { AskedAgent } from "./askedAgents";
import { inboxWords, notStarted, runWords } from "./workWords";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const scribe: AskedAgent = { name: "scribe", displayName: "Scribe" };
const by = (reaction: string, name: string) => ({ reaction, from: { name } });
const work = (workflow_state: string, ...reactions: object[]) => ({ workflow_state, reactions }) as unknown as Message;
const copy = (status: string) => ({ status, status_since: "2026-01-01T00:08:00Z" }) as Message;
const run = (status: string) => ({ status, created_at: "2026-01-01T00:08:00Z", reason: "by_owner" }) as Run;

describe("work that mentions an agent with an inbox", () => {
  const words = (one: Message, status: string, agent = scribe) => inboxWords(one, copy(status), agent, NOW).text;

  it("says beside its state what the agent does", () => {
    const open = work("proposed");
    expect(words(open, "pending")).toBe("@scribe has not started on it");
    expect(words(open, "processing")).toBe("@scribe is working on it, 2 min");
    expect(inboxWords(open, copy("processing"), scribe, NOW - 90_000).text).toBe("@scribe is working on it");
    expect(words(open, "done")).toBe("@scribe has read it");
    expect(inboxWords(open, copy("failed"), scribe, NOW)).toEqual({ text: "@scribe failed:", isBad: true });
    expect(words(open, "pending", { ...scribe, own: { paused_at: "2026-01-01T00:00:00Z" } as AskedAgent["own"] })).toBe("@scribe is paused");
  });

  it("says nothing that the state already says", () => {
    expect(words(work("in_progress", by("in_progress", "scribe")), "processing")).toBeUndefined();
    expect(words(work("done", by("done", "scribe"), by("in_progress", "scribe")), "done")).toBeUndefined();
    expect(words(work("done", by("done", "mira")), "pending")).toBeUndefined();
  });

  it("says it when the agent goes on with what somebody else has finished or claimed", () => {
    expect(words(work("done", by("done", "mira")), "processing")).toBe("@scribe is still working on it, 2 min");
    expect(words(work("in_progress", by("in_progress", "mira")), "processing")).toBe("@scribe is working on it, 2 min");
  });
});

describe("work that starts no run", () => {
  const why = (state: string, reason: string, one = work("proposed")) => notStarted(one, scribe, { state, reason } as Pick<Delivery, "state" | "reason">);

  it("says why, also of an agent of somebody else", () => {
    expect(why("not_woken", "sender")).toEqual({
      text: "@scribe was not started. Your messages do not start this agent. Ask its owner.",
      isBad: true,
    });
    expect(why("not_woken", "paused").text).toBe("@scribe was not started. The agent is paused. Resend after its owner resumes it.");
    expect(why("deferred", "cooldown")).toEqual({ text: "@scribe rests between two runs. Then it starts by itself." });
  });

  it("says nothing when the work is finished", () => {
    for (const state of ["done", "rejected", "published"]) {
      expect(why("not_woken", "sender", work(state))).toEqual({});
      expect(why("deferred", "sequential", work(state))).toEqual({});
    }
  });
});

describe("work that starts a run", () => {
  it("says what the run does, unless the state comes from it", () => {
    const words = (one: Message, status: string) => runWords(one, run(status), scribe, NOW).text;
    expect(words(work("proposed"), "queued")).toBe("@scribe waits for a free slot");
    expect(words(work("in_progress", by("in_progress", "scribe")), "running")).toBeUndefined();
    expect(words(work("in_progress", by("in_progress", "mira")), "running")).toBe("@scribe is working on it, 2 min");
    expect(words(work("done", by("done", "scribe")), "succeeded")).toBeUndefined();
    const later = { ...run("deferred"), deferred_until: "2026-01-01T00:09:00Z" };
    expect(runWords(work("proposed"), later, scribe, NOW).text).toBe(
      "@scribe waits: the provider of its model is overloaded, or a limit is used up. Starts again in a moment.",
    );
    expect(words(work("proposed"), "cancelled")).toBe("@scribe was stopped. Cancelled by you.");
    expect(words(work("rejected", by("reject", "scribe")), "failed")).toBe("@scribe failed:");
  });
});
