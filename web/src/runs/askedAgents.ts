import type { Agent, Me, Message } from "../api/types";

/** An agent that got a message of the person. */
export interface AskedAgent {
  name: string;
  displayName: string;
  /** The agent with its settings, if it is the person's own. */
  own?: Agent;
}

interface Known {
  name: string;
  kind: string;
  display_name: string;
}

/** The agents that got a message, in the order in which it names them. Whoever got one is a partner of the person by that. */
export function askedAgents(message: Message, me: Me, partners: readonly Known[]): AskedAgent[] {
  const names = message.to ? [message.to] : [...new Set(message.mentions)];
  return names.flatMap((name) => {
    const own = me.agents.find((agent) => agent.name === name);
    const known = own ?? partners.find((one) => one.name === name && one.kind === "agent");
    return known ? [{ name, displayName: known.display_name || name, own }] : [];
  });
}
