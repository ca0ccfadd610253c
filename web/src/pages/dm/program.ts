import type { Agent } from "../../api/types";

const PROGRAMS: Record<string, string> = { claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI", opencode: "opencode", goose: "Goose", aider: "Aider" };

/** What an agent runs with, in a few words. */
export function programOf({ trigger_mode, harness }: Pick<Agent, "trigger_mode" | "harness">): string {
  if (trigger_mode === "passive") return "Checks its inbox through its client";
  const command: unknown = (harness as { command?: unknown } | null | undefined)?.command;
  const first: unknown = Array.isArray(command) ? command[0] : undefined;
  if (typeof first !== "string" || first === "") return "Has no command yet";
  const file = first.slice(first.lastIndexOf("/") + 1);
  return `Runs with ${PROGRAMS[file] ?? file}`;
}
