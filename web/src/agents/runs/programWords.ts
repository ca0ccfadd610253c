import type { KnownProgram } from "../../api/programs";
import { joinWords } from "./commandLine";

export interface Finding {
  text: string;
  look: "good" | "missing" | "unknown";
}

/** Whether something is installed on the server. */
export function foundWords({ found, version }: Pick<KnownProgram, "found" | "version">): Finding {
  if (found === false) return { text: "Not installed on the server", look: "missing" };
  if (!found) return { text: "Not known whether it is installed", look: "unknown" };
  return { text: version ? `Version ${version} found on the server` : "Found on the server, version unknown", look: "good" };
}

/** Whether it has a key. `variables` are the names of the agent's own environment variables. */
export function keyWords({ key_names, keys_found }: Pick<KnownProgram, "key_names" | "keys_found">, variables: readonly string[]): Finding {
  const key = keys_found[0] ?? key_names.find((name) => variables.includes(name));
  return key ? { text: `Key ${key} found`, look: "good" } : { text: `Key ${key_names[0]} is missing`, look: "missing" };
}

/** The command with which the operator stores a key, for one agent or for all agents of a user. It works anywhere if it names the hub's data. */
export const keyCommand = (name: string, scope: `agent:${string}` | `user:${string}`, data?: string | null) =>
  joinWords(["stoa", "admin", ...(data ? ["--data", data] : []), "secrets", "set", name, "--scope", scope]);

/** Who can start an agent that runs on the server. */
export const isolationWords = (isIsolated: boolean) =>
  isIsolated
    ? "Runs are isolated: they cannot see the hub's files or other runs."
    : "Runs are not isolated on this hub, so only you and your agents can start this agent.";
