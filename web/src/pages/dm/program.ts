import { cardOf, programOf as adapterOf } from "../../agents/runs/programs";
import type { Agent } from "../../api/types";

const PROGRAMS: Record<string, string> = { claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI", opencode: "opencode", goose: "Goose", aider: "Aider" };

/** What an agent runs with, in a few words. */
export function programOf({ trigger_mode, harness, last_seen_at }: Pick<Agent, "trigger_mode" | "harness" | "last_seen_at">): string {
  if (trigger_mode === "passive") return last_seen_at ? "Checks its inbox through its client" : "No client has connected yet";
  if (trigger_mode === "disabled") return "Switched off";
  const adapter = adapterOf(harness?.adapter);
  if (adapter !== "generic") return `Runs with ${cardOf(adapter).label}`;
  const command: unknown = (harness as { command?: unknown } | null | undefined)?.command;
  const first: unknown = Array.isArray(command) ? command[0] : undefined;
  if (typeof first !== "string" || first === "") return "Has no command yet";
  const file = first.slice(first.lastIndexOf("/") + 1);
  return `Runs with ${PROGRAMS[file] ?? file}`;
}
