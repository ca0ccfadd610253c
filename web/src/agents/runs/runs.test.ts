import { describe, expect, it } from "vitest";

import type { Check } from "../../api/runs";
import type { Agent } from "../../api/types";
import { outcomeOf, stepDetail, stepName, verdictOf } from "./checkWords";
import { joinWords, shellWords, splitWords } from "./commandLine";
import { changedFields, changesOf, chosen, formOf, namesIn } from "./form";
import { toolsFault } from "./workspaceWords";
import { foundWords, isolationWords, keyCommand, keyWords } from "./programWords";

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

  it("of an agent that runs elsewhere are its address, its time and its prompt", () => {
    const form = { ...formOf(agent), ...chosen(agent, "webhook"), url: " https://x.example/run ", timeout: "60" };
    expect(changesOf(agent, form)).toEqual({ changes: { harness: { backend: "webhook", url: "https://x.example/run", timeout_seconds: 60 } }, errors: {} });
    const remote = { ...agent, harness: { backend: "webhook", url: "https://x.example/", prompt_template: "{{messages}}" } } as unknown as Agent;
    expect(formOf(remote)).toMatchObject({ adapter: "webhook", url: "https://x.example/", template: "{{messages}}", command: "" });
    expect(changesOf(remote, formOf(remote))).toEqual({ changes: {}, errors: {} });
    expect(changesOf(remote, { ...formOf(remote), timeout: "soon" }).errors).toHaveProperty("timeout");
    // The hub says that an address is missing.
    expect(changesOf(remote, { ...formOf(remote), url: " " })).toEqual({ changes: { harness: { backend: "webhook", prompt_template: "{{messages}}" } }, errors: {} });
    // A command has no address.
    const command = { ...formOf(remote), ...chosen(remote, "generic"), command: "date", template: "" };
    expect(changesOf(remote, command).changes).toEqual({ harness: { backend: "subprocess", command: ["date"] } });
  });

  it("leave another backend alone until a command is typed", () => {
    const other = { ...agent, harness: { backend: "kubernetes" } } as unknown as Agent;
    expect(changesOf(other, { ...formOf(other), runs: "1" }).changes).toEqual({ budget: { runs_per_day: 1 } });
    expect(changesOf(other, { ...formOf(other), command: "x" }).changes).toEqual({ harness: { backend: "subprocess", command: ["x"] } });
  });

  it("of something that the hub knows need no command", () => {
    const bare = { ...agent, trigger_mode: "passive", harness: null } as unknown as Agent;
    const form = { ...formOf(bare), ...chosen(bare, "claude-code"), model: "opus", turns: "20", runCost: "0.5", resume: true };
    expect(changesOf(bare, form)).toEqual({
      changes: { trigger_mode: "reactive", harness: { backend: "subprocess", adapter: "claude-code", model: "opus", max_turns: 20, max_cost_usd: 0.5, resume: true } },
      errors: {},
    });
    // Limits that it does not have are not stored.
    expect(changesOf(bare, { ...form, adapter: "gemini" }).changes.harness).toEqual({ backend: "subprocess", adapter: "gemini", model: "opus", max_turns: 20 });
    expect(changesOf(bare, { ...form, turns: "some", runCost: "-1" }).errors).toHaveProperty("runCost");
  });

  it("forget the words of another command", () => {
    const form = { ...formOf(agent), ...chosen(agent, "codex") };
    expect(changesOf(agent, form).changes).toEqual({ harness: { backend: "subprocess", adapter: "codex" } });
    const codex = { ...agent, harness: { backend: "subprocess", adapter: "codex", model: "gpt-5", resume: true } } as unknown as Agent;
    expect(changesOf(codex, { ...formOf(codex), ...chosen(codex, "generic"), command: "date" }).changes).toEqual({ harness: { backend: "subprocess", command: ["date"] } });
  });

  it("say where runs work", () => {
    const form = { ...formOf(agent), workspace: "git" as const, path: " /srv/site " };
    const command = { backend: "subprocess", command: ["my agent", "-p"], adapter: "generic" };
    expect(changesOf(agent, form).changes).toEqual({ harness: { ...command, workspace: { kind: "git", path: "/srv/site" } } });
    const saved = { ...agent, harness: { ...command, workspace: { kind: "git", path: "/srv/site" } } } as unknown as Agent;
    expect(formOf(saved)).toMatchObject({ workspace: "git", path: "/srv/site" });
    expect(changesOf(saved, { ...formOf(saved), timeout: "60" }).changes).toEqual({
      harness: { ...command, timeout_seconds: 60, workspace: { kind: "git", path: "/srv/site" } },
    });
    expect(changesOf(saved, { ...formOf(saved), workspace: "empty" }).changes).toEqual({ harness: command });
    expect(changesOf(saved, { ...formOf(saved), ...chosen(saved, "codex") }).changes).toEqual({
      harness: { backend: "subprocess", adapter: "codex", workspace: { kind: "git", path: "/srv/site" } },
    });
    // An agent that runs elsewhere works where it is.
    expect(changesOf(saved, { ...formOf(saved), ...chosen(saved, "webhook"), url: "https://x.example/" }).changes).toEqual({
      harness: { backend: "webhook", url: "https://x.example/" },
    });
    const bare = { ...agent, harness: null } as unknown as Agent;
    expect(changesOf(bare, { ...formOf(bare), ...chosen(bare, "generic"), workspace: "folder" }).errors).toEqual({ command: "Enter a command" });
  });

  it("say when the tools leave a workspace unused", () => {
    expect(toolsFault("claude-code", "hub", "git")).toMatch(/Claude Code cannot use files/);
    expect(toolsFault("codex", "hub", "folder")).toMatch(/Codex can read files but not change them/);
    expect([toolsFault("claude-code", "files", "git"), toolsFault("claude-code", "hub", "empty"), toolsFault("generic", "hub", "git")]).toEqual([undefined, undefined, undefined]);
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

describe("a card", () => {
  const known = { key_names: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"], keys_found: [] as string[] };

  it("says what was found", () => {
    expect(foundWords({ found: true, version: "2.1.325" })).toEqual({ text: "Version 2.1.325 found on the server", look: "good" });
    expect(foundWords({ found: true, version: null }).text).toBe("Found on the server, version unknown");
    expect(foundWords({ found: false, version: null })).toEqual({ text: "Not installed on the server", look: "missing" });
    expect(foundWords({ found: null, version: null }).look).toBe("unknown");
  });

  it("says whether there is a key, also in a variable of the agent", () => {
    expect(keyWords(known, [])).toEqual({ text: "Key ANTHROPIC_API_KEY is missing", look: "missing" });
    expect(keyWords({ ...known, keys_found: ["ANTHROPIC_AUTH_TOKEN"] }, []).text).toBe("Key ANTHROPIC_AUTH_TOKEN found");
    expect(keyWords(known, ["ANTHROPIC_API_KEY"]).look).toBe("good");
    expect(keyCommand("OPENAI_API_KEY", "agent:scribe")).toBe("stoa admin secrets set OPENAI_API_KEY --scope agent:scribe");
    expect(keyCommand("OPENAI_API_KEY", "user:ada", "/srv/my data")).toBe("stoa admin --data '/srv/my data' secrets set OPENAI_API_KEY --scope user:ada");
  });

  it("says who can start the agent", () => {
    expect(isolationWords(false)).toMatch(/only you and your agents can start/);
    expect(isolationWords(true)).toMatch(/cannot see the hub's files/);
  });
});
