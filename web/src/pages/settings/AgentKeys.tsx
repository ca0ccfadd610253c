import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { bySeen } from "../../agents/filter";
import type { Agent } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Time } from "../../ui/Time";

const FIRST = 8;

const COLUMNS: Array<Column<Agent>> = [
  {
    title: "Agent",
    cell: (agent) => (
      <span className="flex items-center gap-2">
        <Avatar name={agent.name} kind="agent" size="small" />
        <AgentName name={agent.name} />
      </span>
    ),
  },
  { title: "Agent last seen", cell: (agent) => (agent.last_seen_at ? <Time at={agent.last_seen_at} /> : <span className="text-muted">never</span>) },
  {
    title: "Actions",
    isTitleHidden: true,
    isEnd: true,
    cell: (agent) => (
      <Link
        to="/agents/$name"
        params={{ name: agent.name }}
        search={{ tab: "keys" }}
        aria-label={`Keys of @${agent.name}`}
        className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11"
      > Manage keys </Link>
    ),
  },
];

/** The key that every agent has from the beginning. It is no managed key, and yet it gives access. */
export function AgentKeys({ agents }: { agents: Agent[] }) {
  const [isAll, setAll] = useState(false);
  if (agents.length === 0) return null;
  const shown = isAll ? bySeen(agents) : bySeen(agents).slice(0, FIRST);
  return (
    <Section
      title="Agents' own keys"
      description="Each agent has one key with full access. It works until you replace it on the agent's page."
    >
      <DataTable label="Agents' own keys" columns={COLUMNS} rows={shown} keyOf={(agent) => agent.id} />
      {shown.length < agents.length ? (
        <div>
          <Button onClick={() => setAll(true)}>Show all {agents.length}</Button>
        </div>
      ) : null}
    </Section>
  );
}
