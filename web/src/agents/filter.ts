import type { Agent } from "../api/types";
import { type Status, standing } from "./statuses";

/** Those that have what is typed in their name, and are as one wants them. */
export function filterAgents(agents: readonly Agent[], typed: string, status: Status | undefined): Agent[] {
  const sought = typed.trim().toLowerCase();
  return agents.filter((agent) => {
    if (status !== undefined && standing(agent) !== status) return false;
    return [agent.name, agent.display_name, agent.archetype].some((text) => text.toLowerCase().includes(sought));
  });
}

/** Agents by when they were last seen, those that never were at the end. */
export function bySeen(agents: readonly Agent[]): Agent[] {
  const seen = (agent: Agent) => (agent.last_seen_at ? Date.parse(agent.last_seen_at) : 0);
  return [...agents].sort((one, other) => seen(other) - seen(one) || one.name.localeCompare(other.name));
}
