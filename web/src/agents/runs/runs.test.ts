import { describe, expect, it } from "vitest";

import type { Check } from "../../api/runs";
import type { Agent } from "../../api/types";
import { outcomeOf, stepDetail, stepName, verdictOf } from "./checkWords";
import { joinWords, shellWords, splitWords } from "./commandLine";
import { changedFields, changesOf, formOf, namesIn } from "./form";

const agent = {
  name: "scribe",
  trigger_mode: "reactive",
  cooldown_seconds: 30,
  budget: { runs_per_day: 100, cost_usd_per_day: null, others_percent: 50 },
  max_trigger_depth: 4,
  max_round_trips: 12,
  trigger_from: "people",
  trigger_allow: [],
  foreign_reach: "conversation",
  harness: { backend: "subprocess", command: ["my agent", "-p"], adapter: "generic" },
} as unknown as Agent;

describe("a command line", () => {
  it("is split into words as a shell does it", () => {
    expect(splitWords(`/bin/sh  -c 'echo "a b"'`).words).toEqual(["/bin/sh", "-c", 'echo "a b"']);
    expect(splitWords(`a\\ b "c \\" d" '' "x\\y"`).words).toEqual(["a b", 'c " d', "", "x\\y"]);
    expect(splitWords("  \n ").words).toEqual([]);
  });

  it("expands nothing", () => {
    expect(splitWords("echo $HOME ~ *.txt `id` | tee x").words).toEqual(["echo", "$HOME", "~", "*.txt", "`id`", "|", "tee", "x"]);
    expect(shellWords(["echo", "$HOME", "|", "2>x", "a|b", "--x=1"])).toEqual(["$HOME", "|", "2>x"]);
  });

  it("that is not finished is refused", () => {
    expect(splitWords("echo 'a").error).toBe("A ' is not closed");
    expect(splitWords('echo "a').error).toBe('A " is not closed');
    expect(splitWords("echo \\").error).toBe("Remove the backslash at the end");
  });

  it("is written so that it is read as the same words", () => {
    for (const words of [["a"], ["a b", "it's", "", "$x", "\\", '"', "a\nb", "ä"], []]) {
      expect(splitWords(joinWords(words)).words).toEqual(words);
    }
  });
});

describe("the settings of runs", () => {
  it("are sent only where they differ", () => {
    expect(changesOf(agent, formOf(agent))).toEqual({ changes: {}, errors: {} });
    const form = { ...formOf(agent), mode: "passive" as const, runs: "5", cost: "2.5", others: "0", allowed: "@tomas, critic" };
    expect(changesOf(agent, form)).toEqual({
      changes: { trigger_mode: "passive", trigger_allow: ["tomas", "critic"], budget: { runs_per_day: 5, cost_usd_per_day: 2.5, others_percent: 0 } },
      errors: {},
    });
    expect(changedFields(formOf(agent), form)).toEqual(["mode", "allowed", "runs", "cost", "others"]);
  });

  it("say what runs of others can see", () => {
    expect(changesOf(agent, { ...formOf(agent), reach: "agent" }).changes).toEqual({ foreign_reach: "agent" });
  });

  it("keep what the form does not show of a command", () => {
    const form = { ...formOf(agent), timeout: "60", environment: [{ name: "A", value: "1" }], tools: "shell" as const };
    expect(changesOf(agent, form).changes).toEqual({
      harness: { backend: "subprocess", command: ["my agent", "-p"], adapter: "generic", timeout_seconds: 60, env: { A: "1" }, tools: "shell" },
    });
  });

  it("without a command have nothing to run", () => {
    expect(changesOf(agent, { ...formOf(agent), command: "" }).changes).toEqual({ harness: null });
    expect(changesOf(agent, { ...formOf(agent), command: "", template: "x" }).errors).toEqual({ command: "Enter a command" });
  });

  it("leave another backend alone until a command is typed", () => {
    const other = { ...agent, harness: { backend: "webhook", url: "https://x.example/" } } as unknown as Agent;
    expect(changesOf(other, { ...formOf(other), runs: "1" }).changes).toEqual({ budget: { runs_per_day: 1 } });
    expect(changesOf(other, { ...formOf(other), command: "x" }).changes).toEqual({ harness: { backend: "subprocess", command: ["x"] } });
  });

  it("that make no sense are named", () => {
    const twice = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const { errors, changes } = changesOf(agent, { ...formOf(agent), cooldown: "-1", depth: "", cost: "much", command: "'", timeout: "soon", environment: twice });
    expect(Object.keys(errors).sort()).toEqual(["command", "cooldown", "cost", "depth", "environment", "timeout"]);
    expect(changes.harness).toBeUndefined();
    expect(namesIn(" @a,b  c ")).toEqual(["a", "b", "c"]);
  });
});

describe("a check", () => {
  const step = (name: string, passed: boolean) => ({ name, passed, detail: "" });

  it("says what stops a message and what it waits for", () => {
    expect([step("mode", true), step("sequential", false), step("budget", false)].map(outcomeOf)).toEqual(["passed", "waits", "stops"]);
    expect([step("sequential", true), step("new_step", true)].map(stepName)).toEqual(["One run at a time", "new_step"]);
    expect(["depth 0 of 4", "others: 0 of 50 runs today", "not paused"].map((detail) => stepDetail({ ...step("x", true), detail }))).toEqual([
      "0 of 4",
      "0 of 50 runs today",
      "not paused",
    ]);
    const verdict = (state: Check["state"]) => verdictOf({ state, detail: "", steps: [] }, "scribe");
    expect([verdict("woken"), verdict("deferred"), verdict("not_woken")]).toEqual(["@scribe would start.", "@scribe would wait, then run.", "@scribe would not start."]);
  });
});
