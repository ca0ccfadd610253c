/** The parts of an agent's page, as they are in its address. */
export const AGENT_TABS = ["overview", "runs", "instructions", "keys", "webhooks", "conversations", "connect"] as const;
export type AgentTab = (typeof AGENT_TABS)[number];

/** Where on the tab of the runs a message can be tried, as it is in the address. */
export const TRY_IT = "try";

/** Anything else in the address is as if it were not there. */
export function agentTab(value: unknown): AgentTab | undefined {
  // Older links name the tab that had these settings.
  return AGENT_TABS.find((tab) => tab === (value === "triggers" ? "runs" : value));
}
