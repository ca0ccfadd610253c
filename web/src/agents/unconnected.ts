import type { Agent } from "../api/types";
import { person } from "../lib/person";
import { load, save } from "../lib/storage";

/** Whether an agent was created and never used: no program has connected as it, and the hub starts none. */
export function isUnconnected({ last_seen_at, trigger_mode, harness, paused_at, quarantined_at }: Agent): boolean {
  return !last_seen_at && !harness && trigger_mode === "passive" && !paused_at && !quarantined_at;
}

const key = () => `stoa.unconnected.${person.get()}`;

/** The agents that the person does not want to be reminded of in this browser. */
export function dismissedAgents(): string[] {
  const names = load<string[]>(key(), []);
  return Array.isArray(names) ? names : [];
}

export function dismissAgent(name: string): void {
  save(key(), [...new Set([...dismissedAgents(), name])]);
}
