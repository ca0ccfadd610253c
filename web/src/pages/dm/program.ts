import { cardOf, programOf as cardFor } from "../../agents/runs/programs";
import type { Agent } from "../../api/types";
import { urlOf } from "../../lib/url";

const PROGRAMS: Record<string, string> = { claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI", opencode: "opencode", goose: "Goose", aider: "Aider" };

/** The host alone: the rest of an address may contain a secret. */
const hostOf = (url: string | null | undefined) => urlOf(url ?? "")?.host || "another server";

/** What an agent runs with, in a few words. */
export function programOf({ trigger_mode, harness, last_seen_at }: Pick<Agent, "trigger_mode" | "harness" | "last_seen_at">): string {
  if (trigger_mode === "passive") return last_seen_at ? "Checks its inbox through its client" : "No client has connected yet";
  if (trigger_mode === "disabled") return "Switched off";
  const card = cardFor(harness);
  if (card === "webhook") return `Runs at ${hostOf(harness?.url)}`;
  if (card !== null && card !== "generic") return `Runs with ${cardOf(card).label}`;
  const command: unknown = (harness as { command?: unknown } | null | undefined)?.command;
  const first: unknown = Array.isArray(command) ? command[0] : undefined;
  if (typeof first !== "string" || first === "") return "Has no command yet";
  const file = first.slice(first.lastIndexOf("/") + 1);
  return `Runs with ${PROGRAMS[file] ?? file}`;
}
