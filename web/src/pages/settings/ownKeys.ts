import type { Agent } from "../../api/types";

/** Agents by when they were last seen, those that never were at the end: whose key is in use is what one looks for. */
export function bySeen(agents: readonly Agent[]): Agent[] {
  const seen = (agent: Agent) => (agent.last_seen_at ? Date.parse(agent.last_seen_at) : 0);
  return [...agents].sort((one, other) => seen(other) - seen(one) || one.name.localeCompare(other.name));
}
