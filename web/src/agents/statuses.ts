/** What an agent can be. The address of the list of agents names one of them. */
export const STATUSES = ["active", "paused", "quarantined"] as const;
export type Status = (typeof STATUSES)[number];
