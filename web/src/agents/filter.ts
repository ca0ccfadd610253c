import type { Agent } from "../api/types";
import { standing } from "./chain";

export const STATUSES = ["active", "paused", "quarantined"] as const;
export type Status = (typeof STATUSES)[number];

/** Those that have what is typed in their name, and are as one wants them. */
export function filterAgents(agents: readonly Agent[], typed: string, status: Status | undefined): Agent[] {
  const sought = typed.trim().toLowerCase();
  return agents.filter((agent) => {
    if (status !== undefined && standing(agent) !== status) return false;
    return [agent.name, agent.display_name, agent.archetype].some((text) => text.toLowerCase().includes(sought));
  });
}
