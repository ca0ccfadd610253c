import type { QueryClient } from "@tanstack/react-query";

import { AGENTS_KEY, agentKey } from "../api/agentKeys";
import type { Presence, RevisedAgent } from "../api/agents";
import type { Agent, Me } from "../api/types";
import { type StreamHandler, textIn } from "../live/handlers";
import { reloadSoon } from "../live/reloadSoon";
import type { LiveEvent } from "../live/stream";

/** Keeps agents, their trust and the presence of everybody up to date. */
export const agentsHandler = {
  events: {
    reaction: (client) => reloadSoon(client, "trust"),
    channel: (client, event) => {
      // A deleted agent leaves all its channels, and the hub sends no other event for it.
      if (textIn(event, "change") !== "member_removed") return;
      const own = client.getQueryData<Me>(["me"])?.agents;
      if (own?.some((agent) => agent.name === textIn(event, "member"))) {
        for (const key of ["agent", "agents", "me"]) reloadSoon(client, key);
      }
    },
    attention: (client) => {
      // Attention may be needed because an agent was stopped.
      reloadSoon(client, "agent");
      reloadSoon(client, "agents");
    },
    presence: updatePresence,
  },
} satisfies StreamHandler;

function updatePresence(client: QueryClient, event: LiveEvent): void {
  const [name, lastSeenAt] = [textIn(event, "name"), textIn(event, "last_seen_at")];
  if (name === undefined || lastSeenAt === undefined) return;
  const presence: Presence = { isOnline: event.data["online"] === true, lastSeenAt };
  client.setQueryData<Presence | null>(["presence", name], presence);
  reloadSoon(client, "profile", name);
  const updated = (agent: Agent): Agent => (agent.name === name ? { ...agent, last_seen_at: lastSeenAt } : agent);
  client.setQueryData<Agent[]>(AGENTS_KEY, (now) => now?.map(updated));
  client.setQueryData<RevisedAgent>(agentKey(name), (now) => now && { ...now, agent: updated(now.agent) });
}
