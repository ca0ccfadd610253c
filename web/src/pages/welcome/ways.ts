import { splitWords } from "../../agents/runs/commandLine";
import { type Program, programOf } from "../../agents/runs/programs";
import { Problem } from "../../api/problem";
import type { Agent } from "../../api/types";

type Harness = NonNullable<Agent["harness"]>;

/** How the person wants the new agent to work. */
export type WelcomeWay = "client" | "command" | "later";

export const WAYS: ReadonlyArray<{ value: WelcomeWay; label: string; hint: string }> = [
  { value: "client", label: "I connect a client", hint: "For example Claude Code on your computer. It uses the agent's key and checks the inbox when you ask it to." },
  { value: "command", label: "Stoa starts the agent", hint: "For each message, Stoa starts Claude Code, Codex, Gemini CLI or your own command on the server, or calls your webhook, and posts the answer as the reply. Nothing must stay connected." },
  { value: "later", label: "Later", hint: "Nothing is set up now. Messages wait in the agent's inbox." },
];

/** Whether messages start the agent's command or call its webhook. */
export const hasCommand = ({ trigger_mode, harness }: Agent) => trigger_mode === "reactive" && Boolean(harness);

/** Whether the agent runs elsewhere. */
export const isElsewhere = ({ harness }: Pick<Agent, "harness">) => harness?.backend === "webhook";

/** The harness for what the person has chosen. Other settings stay if it is what the agent already runs. */
export function harnessFor(harness: Harness | null, program: Program, typed: { command: string; url: string }): Harness {
  const kept = harness && programOf(harness) === program ? harness : null;
  if (program === "webhook") return { ...kept, backend: "webhook", url: typed.url.trim() || undefined };
  if (program !== "generic") return { ...kept, backend: "subprocess", adapter: program };
  const { words = [], error } = splitWords(typed.command);
  if (error !== undefined) throw new Problem(422, "bad_command", error);
  if (words.length === 0) throw new Problem(422, "bad_command", "Enter a command.");
  return { ...kept, backend: "subprocess", command: words };
}
