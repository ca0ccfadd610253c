import { describe, expect, it } from "vitest";

import type { RunStep } from "../../api/runs";
import { clockTime } from "../../lib/time";
import { againWords, costWords, notStartedWords, reasonWords, restEnd, restWords, spanWords, timeOf, tokenWords, triggerWords } from "../../runs/words";
import { filterOf, totalsOf } from "./filter";
import { runSearch } from "./search";
import { isFull, offsetWords, outputRows, summaryOf } from "./steps";

const step = (at: string, kind: RunStep["kind"] = "output"): RunStep => ({ at: `2026-01-01T00:${at}Z`, kind, text: "x" });

describe("the filter of runs", () => {
  it("asks for all statuses of a group", () => {
    expect(filterOf(runSearch({ status: "active", agent: "scribe" }))).toEqual({ agent: "scribe", status: "queued,running,deferred" });
    expect(filterOf(runSearch({ status: "deferred" }))).toEqual({ status: "deferred" });
    expect(filterOf(runSearch({ status: "failed" }))).toEqual({ status: "failed,timed_out" });
  });

  it("ignores what the hub does not know", () => {
    expect(filterOf(runSearch({ status: "unknown", offset: -3 }))).toEqual({});
    expect(runSearch({ offset: "50", agent: 7 })).toEqual({ agent: "7", status: undefined, offset: 50 });
  });

  it("counts cancelled runs as finished, but not as failed", () => {
    const counts = { running: 2, queued: 0, deferred: 0, succeeded: 9, failed: 1, cancelled: 5 };
    expect(totalsOf(counts)).toBe("2 running, 15 finished, 90 % succeeded");
    expect(totalsOf({ running: 0, queued: 1, deferred: 3, succeeded: 0, failed: 0, cancelled: 0 })).toBe("0 running, 1 queued, 3 deferred, 0 finished");
  });
});

describe("the words of runs", () => {
  it("say how long a run takes", () => {
    expect([0, 48_000, 124_000, 3_900_000].map(spanWords)).toEqual(["0 s", "48 s", "2 min 04 s", "1 h 05 min"]);
    const run = { created_at: "2026-01-01T00:00:00Z", started_at: "2026-01-01T00:00:10Z", finished_at: null };
    expect(timeOf(run, Date.parse("2026-01-01T00:01:00Z"))).toBe(50_000);
    expect(timeOf({ ...run, started_at: null }, Date.parse("2026-01-01T00:01:00Z"))).toBe(60_000);
    expect(timeOf({ ...run, finished_at: "2026-01-01T00:00:12Z" }, 0)).toBe(2000);
  });

  it("say when a run that waits for the provider of its model starts again", () => {
    const now = new Date(2026, 0, 1, 12, 0).getTime();
    const at = (...when: [number, number, number]) => againWords({ deferred_until: new Date(2026, 0, ...when).toISOString() }, now);
    const clock = (hours: number, minutes: number) => clockTime(new Date(2026, 0, 1, hours, minutes).toISOString());
    expect(at(1, 14, 5)).toBe(`Starts again at ${clock(14, 5)}`);
    expect(at(2, 9, 30)).toMatch(new RegExp(`^Starts again on .*2.* at ${clock(9, 30)}$`));
    expect(at(1, 11, 59)).toBe("Starts again in a moment");
    expect(againWords({ deferred_until: null }, now)).toBe("Starts again by itself");
  });

  it("shorten numbers without calling little nothing", () => {
    expect([940, 31_240, 214_000, 999_960].map(tokenWords)).toEqual(["940", "31.2k", "214k", "1.0M"]);
    expect([0, 0.001, 0.18, 12].map(costWords)).toEqual(["$0.00", "< $0.01", "$0.18", "$12.00"]);
  });

  it("name each reason, also one of a newer hub", () => {
    expect(reasonWords("timeout")).toBe("The run exceeded its time limit.");
    expect(reasonWords("melted")).toBe("Reason: melted.");
    expect(reasonWords(null)).toBeUndefined();
    expect(notStartedWords("paused")).toMatch(/^The agent is paused\./);
    expect(notStartedWords("melted")).toContain("melted");
    expect(notStartedWords(undefined)).toBe("No reason given.");
    expect(notStartedWords("paused", false)).toContain("its owner resumes it");
    expect(notStartedWords("budget", false)).toBe(notStartedWords("budget"));
  });

  it("say where the message was written", () => {
    expect(triggerWords({ trigger_from: "mira", trigger_channel: "ops" })).toBe("@mira, #ops");
    expect(triggerWords({ trigger_from: "mira", trigger_channel: null })).toBe("@mira, direct message");
    expect(triggerWords({ trigger_from: null, trigger_channel: null })).toBe("a message you can no longer see");
  });
});

describe("the steps of a run", () => {
  it("have one line for a long time without output", () => {
    const rows = outputRows([step("00:00"), step("00:59"), step("11:46")]);
    expect(rows.map((row) => (row.kind === "quiet" ? row.milliseconds : "step"))).toEqual(["step", "step", 647_000, "step"]);
  });

  it("can be narrowed to errors", () => {
    const rows = outputRows([step("00:00"), step("00:01", "error_output"), step("00:02", "finished")], true);
    expect(rows.map(({ key }) => key)).toEqual([1]);
  });

  it("are counted by kind", () => {
    expect(summaryOf([step("00:00", "tool_call"), step("00:01", "tool_call"), step("00:02", "error_output")])).toBe("2 tool calls, 1 error line");
    expect(summaryOf([step("00:00", "started")])).toBe("");
  });

  it("say how long after the beginning they were", () => {
    const from = "2026-01-01T00:00:00.000Z";
    expect(offsetWords(from, "2026-01-01T00:00:00.200Z")).toBe("+0.2 s");
    expect(offsetWords(from, "2026-01-01T00:02:04.900Z")).toBe("+2 min 04 s");
  });

  it("know a text that fills what the hub stores", () => {
    expect(isFull("x".repeat(32 * 1024))).toBe(true);
    expect(isFull("x".repeat(32 * 1024 - 10))).toBe(false);
    // The next character of 3 bytes did not fit.
    expect(isFull("€".repeat(10_922))).toBe(true);
  });
});

it("an agent that rests says when it starts", () => {
  const end = restEnd([{ finished_at: null }, { finished_at: "2026-01-01T00:00:10Z" }, { finished_at: "2026-01-01T00:00:00Z" }], 30);
  expect(end).toBe(Date.parse("2026-01-01T00:00:40Z"));
  expect(restEnd([{ finished_at: null }], 30)).toBeUndefined();
  expect(restWords(11_500)).toBe("The agent rests between two runs. It starts by itself in 12 s.");
  expect(restWords(0)).toBe("The agent rests between two runs. It starts by itself in a moment.");
});
