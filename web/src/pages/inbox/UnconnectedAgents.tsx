import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plug, X } from "lucide-react";
import { useState } from "react";

import { dismissAgent, dismissedAgents, isUnconnected } from "../../agents/unconnected";
import { agentsQuery } from "../../api/agents";
import type { Agent, Me } from "../../api/types";
import { IconButton } from "../../ui/Button";

const LOOKS_AGAIN_MS = 10_000;

/** Reminds the person of agents that they created and never connected. */
export function UnconnectedAgents({ me }: { me: Me | undefined }) {
  const [dismissed, setDismissed] = useState(dismissedAgents);
  const isListed = (agent: Agent) => isUnconnected(agent) && !dismissed.includes(agent.name);
  const known = me?.agents.filter(isListed) ?? [];
  // The stream does not tell of each use of a key.
  const current = useQuery({ ...agentsQuery, enabled: known.length > 0, refetchInterval: LOOKS_AGAIN_MS }).data;
  const agents = known.length > 0 ? (current ?? known).filter(isListed) : known;
  if (agents.length === 0) return null;
  return (
    <section aria-label="Agents to connect" className="m-6 mb-0 rounded-lg border border-line bg-panel max-md:mx-4">
      <ul className="divide-y divide-line">
        {agents.map(({ name }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 pr-2 pl-4 max-sm:gap-x-2">
            <Plug size={16} aria-hidden="true" className="shrink-0 text-muted" />
            <span className="min-w-40 flex-1 max-sm:min-w-24">@{name} is not connected yet.</span>
            <Link
              to="/agents/$name"
              params={{ name }}
              search={{ tab: "connect" }}
              aria-label={`Connect @${name}`}
              className="inline-flex h-7 items-center rounded-md border border-line bg-bg px-2.5 font-medium hover:bg-selected pointer-coarse:h-11"
            >
              Connect
            </Link>
            <IconButton
              label={`Dismiss @${name}`}
              onClick={() => {
                dismissAgent(name);
                setDismissed(dismissedAgents());
              }}
            >
              <X size={14} />
            </IconButton>
          </li>
        ))}
      </ul>
    </section>
  );
}
