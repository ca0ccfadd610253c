import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { bySeen } from "../../agents/filter";
import { meQuery } from "../../api/queries";
import { AgentName } from "../../ui/Names";
import { Time } from "../../ui/Time";

const MOST_SHOWN = 3;

/** The person's agents and whether a program is connected as each, so that nobody creates a second one by mistake. */
export function OwnAgents() {
  const agents = bySeen(useQuery(meQuery).data?.agents ?? []);
  if (agents.length === 0) return null;
  return (
    <section aria-label="Your agents" className="rounded-lg border border-line bg-panel p-4">
      <h3 className="font-medium">You already have {agents.length === 1 ? "an agent" : `${agents.length} agents`}</h3>
      <ul className="mt-1 flex flex-col gap-2">
        {agents.slice(0, MOST_SHOWN).map((agent) => (
          <li key={agent.id} className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
            <AgentName name={agent.name} />
            {agent.last_seen_at ? (
              <span className="text-muted">
                is connected; last seen <Time at={agent.last_seen_at} />
              </span>
            ) : (
              <>
                <span className="text-muted">is not connected yet:</span>
                <Link
                  to="/welcome"
                  search={{ agent: agent.name, step: "connect" }}
                  className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11"
                >
                  connect @{agent.name}
                </Link>
              </>
            )}
          </li>
        ))}
      </ul>
      {agents.length > MOST_SHOWN ? (
        <Link to="/agents" className="mt-1 inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11">
          All your agents
        </Link>
      ) : null}
    </section>
  );
}
