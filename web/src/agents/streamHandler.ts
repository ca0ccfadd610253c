import type { QueryClient } from "@tanstack/react-query";

import { AGENTS_KEY, agentKey } from "../api/agentKeys";
import type { Presence, RevisedAgent } from "../api/agents";
import { PRESENCES_KEY } from "../api/presencesKey";
import type { Agent, Me } from "../api/types";
import { type StreamHandler, textIn } from "../live/handlers";
import { reloadAtLeisure, reloadSoon } from "../live/reloadSoon";
import type { LiveEvent } from "../live/stream";
import type { PresenceState } from "../ui/PresenceDot";

/** Keeps agents, their trust and the presence of everybody up to date. */
export const agentsHandler = {
  events: {
    reaction: (client) => {
      reloadSoon(client, "trust");
      reloadAtLeisure(client, ...PRESENCES_KEY);
    },
    // Who claims a message works from then on, and the hub sends no event of its own for it.
    message_updated: (client, event) => {
      if (textIn(event, "status") !== undefined) reloadAtLeisure(client, ...PRESENCES_KEY);
    },
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
      for (const key of ["agent", "agents", "me"]) reloadSoon(client, key);
    },
    presence: updatePresence,
  },
} satisfies StreamHandler;

/** The event tells of connections only: an agent that works or is paused may connect as well. */
function joined(known: PresenceState | undefined, now: PresenceState): PresenceState {
  const isKept = known === "paused" ? now === "online" || now === "offline" : known === "working" && now === "online";
  return isKept && known ? known : now;
}

function updatePresence(client: QueryClient, event: LiveEvent): void {
  const [name, lastSeenAt] = [textIn(event, "name"), textIn(event, "last_seen_at")];
  if (name === undefined || lastSeenAt === undefined) return;
  const now = textIn(event, "presence") ?? (event.data["online"] === true ? "online" : "offline");
  const presence: Presence = { isOnline: now === "online" || now === "working", lastSeenAt };
  client.setQueryData<Presence | null>(["presence", name], presence);
  reloadSoon(client, "profile", name);
  client.setQueryData<ReadonlyMap<string, PresenceState>>(PRESENCES_KEY, (known) => known && new Map(known).set(name, joined(known.get(name), now as PresenceState)));
  const updated = (agent: Agent): Agent => (agent.name === name ? { ...agent, last_seen_at: lastSeenAt } : agent);
  client.setQueryData<Agent[]>(AGENTS_KEY, (agents) => agents?.map(updated));
  client.setQueryData<RevisedAgent>(agentKey(name), (revised) => revised && { ...revised, agent: updated(revised.agent) });
  // The first time it matters that it was seen at all. Later changes would draw the whole page again.
  client.setQueryData<Me>(["me"], (me) => {
    const isFirst = me?.agents.some((agent) => agent.name === name && !agent.last_seen_at);
    return me && isFirst ? { ...me, agents: me.agents.map(updated) } : me;
  });
}
