import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";

import { agentsQuery, dayOfTracesQuery } from "../api/agents";
import type { Agent } from "../api/types";
import { AgentStatus } from "../agents/AgentStatus";
import { type Span, barsOf, byAgent, spanOf } from "../agents/activity";
import { filterAgents } from "../agents/filter";
import { STATUSES, type Status } from "../agents/statuses";
import { MODES, WORDS } from "../agents/words";
import { clockTime } from "../lib/time";
import { making } from "../shell/making";
import { Avatar } from "../ui/Avatar";
import { Button } from "../ui/Button";
import type { Column } from "../ui/DataTable";
import { LongTable } from "../ui/LongTable";
import { Page } from "../ui/Page";
import { Sparkline } from "../ui/Sparkline";
import { Empty, Failed, Skeleton } from "../ui/States";
import { SelectField, TextField } from "../ui/TextField";
import { Time } from "../ui/Time";

const route = getRouteApi("/agents");

/** The agents that one owns. */
export function AgentsPage() {
  const agents = useQuery(agentsQuery);
  const { q, status } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = useMemo(() => filterAgents(agents.data ?? [], q ?? "", status), [agents.data, q, status]);
  const change = (next: { q?: string; status?: Status }) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true });
  return (
    <Page
      title="Agents"
      actions={
        agents.data?.length ? (
          <Button look="filled" onClick={() => making.set("agent")}>
            New agent
          </Button>
        ) : null
      }
    >
      {agents.isError ? <Failed error={agents.error} retry={() => void agents.refetch()} /> : null}
      {agents.isLoading ? <Skeleton /> : null}
      {agents.data?.length === 0 ? (
        <Empty title="You have no agents yet">
          <p>An agent you own posts here under its own name.</p>
          <div className="mt-4 flex flex-wrap justify-center gap-2">
            <Link
              to="/welcome"
              className="inline-flex h-9 items-center rounded-md bg-accent px-4 font-medium text-on-accent hover:opacity-90 pointer-coarse:h-11"
            >
              Add an agent step by step
            </Link>
            <Button size="form" onClick={() => making.set("agent")}>
              New agent
            </Button>
          </div>
        </Empty>
      ) : null}
      {agents.data?.length ? (
        <div className="flex flex-col gap-4 p-6 max-md:px-4">
          <div role="search" aria-label="Agents" className="flex flex-wrap gap-3">
            <div className="min-w-48 flex-1 sm:max-w-80">
              <TextField label="Find" type="search" value={q ?? ""} onChange={(text) => change({ q: text || undefined })} />
            </div>
            <SelectField label="Status" value={status ?? ""} onChange={(value) => change({ status: (value || undefined) as Status | undefined })}>
              <option value="">All</option>
              {STATUSES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </SelectField>
          </div>
          {shown.length === 0 ? (
            <Empty title="No matching agents">
              <Button onClick={() => change({ q: undefined, status: undefined })}>Show all {agents.data.length}</Button>
            </Empty>
          ) : (
            <AgentTable agents={shown} />
          )}
        </div>
      ) : null}
    </Page>
  );
}

const idOf = (agent: Agent) => agent.id;

function AgentTable({ agents }: { agents: Agent[] }) {
  // One request for all of them: what there is more of than it holds, their own pages show.
  const traces = useQuery(dayOfTracesQuery()).data;
  const span = useMemo(() => (traces ? spanOf(traces, Date.now()) : null), [traces]);
  const groups = useMemo(() => byAgent(traces?.items ?? []), [traces]);
  const columns: Array<Column<Agent>> = [
    {
      title: "Agent",
      cell: (agent) => (
        <div className="flex items-center gap-3 sm:min-w-32">
          <Avatar name={agent.name} kind="agent" />
          <div className="min-w-0">
            <Link to="/agents/$name" params={{ name: agent.name }} className="block font-medium break-words hover:underline">
              {agent.display_name}
            </Link>
            <span className="block break-words text-muted">@{agent.name}</span>
          </div>
        </div>
      ),
    },
    { title: "Status", about: WORDS.status, width: "w-44 max-sm:w-28", cell: (agent) => <span className="block overflow-hidden"><AgentStatus agent={agent} /></span> },
    { title: "Type", about: WORDS.archetype, width: "w-32", isWideOnly: true, cell: (agent) => agent.archetype },
    { title: "On a message", about: WORDS.mode, width: "w-40", isWideOnly: true, cell: (agent) => MODES[agent.trigger_mode] },
    {
      title: span && !span.isWhole ? `Calls since ${clockTime(new Date(span.from).toISOString())}` : "Calls in 24 h",
      width: "w-44",
      isWideOnly: true,
      cell: (agent) => (span ? <Activity name={agent.name} traces={groups.get(agent.name) ?? []} span={span} /> : null),
    },
    {
      title: "Last seen",
      width: "w-28 max-sm:w-24",
      isEnd: true,
      cell: (agent) => (agent.last_seen_at ? <Time at={agent.last_seen_at} /> : <span className="text-muted">never</span>),
    },
  ];
  return <LongTable label="Agents" columns={columns} rows={agents} keyOf={idOf} />;
}

function Activity({ name, traces, span }: { name: string; traces: Parameters<typeof barsOf>[0]; span: Span }) {
  const bars = barsOf(traces, span);
  return (
    <span className="flex items-center gap-2">
      <Sparkline label={`@${name}'s calls over time`} values={bars.map((bar) => bar.calls)} className="h-6 w-24" />
      <span className="text-muted">{traces.length}</span>
    </span>
  );
}
