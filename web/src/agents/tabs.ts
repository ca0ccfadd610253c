/** The parts of an agent's page, as they are in its address. */
export const AGENT_TABS = ["overview", "triggers", "instructions", "keys", "webhooks", "conversations", "connect"] as const;
export type AgentTab = (typeof AGENT_TABS)[number];

/** Anything else in the address is as if it were not there. */
export function agentTab(value: unknown): AgentTab | undefined {
  return AGENT_TABS.find((tab) => tab === value);
}
