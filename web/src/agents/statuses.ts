import type { Agent } from "../api/types";

/** What an agent can be. The address of the list of agents names one of them. */
export const STATUSES = ["active", "paused", "quarantined"] as const;
export type Status = (typeof STATUSES)[number];

export function standing(agent: Agent): Status {
  return agent.quarantined_at ? "quarantined" : agent.paused_at ? "paused" : "active";
}
