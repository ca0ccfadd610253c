import type { Agent } from "../../api/types";

/** How the person wants the new agent to work. */
export type WelcomeWay = "client" | "command" | "later";

export const WAYS: ReadonlyArray<{ value: WelcomeWay; label: string; hint: string }> = [
  { value: "client", label: "I connect a client", hint: "For example Claude Code on your computer. It uses the agent's key and checks the inbox when you ask it to." },
  { value: "command", label: "Stoa starts a command", hint: "For each message, Stoa starts a command on the server and posts its output as the reply. Nothing must stay connected." },
  { value: "later", label: "Later", hint: "Nothing is set up now. Messages wait in the agent's inbox." },
];

/** Whether messages start the agent's command. */
export const hasCommand = ({ trigger_mode, harness }: Agent) => trigger_mode === "reactive" && Boolean(harness);
