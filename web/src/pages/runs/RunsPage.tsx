import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { OctagonX } from "lucide-react";

import { AgentsNext } from "../../agents/AgentsNext";
import { RUNS_PAGE, runCountsQuery, runsQuery } from "../../api/runs";
import { Button } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Page } from "../../ui/Page";
import { Pager } from "../../ui/Pager";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { RunFilters } from "./RunFilters";
import { filterOf, totalsOf } from "./filter";
import { runColumns } from "./runColumns";
import type { RunSearch } from "./search";

const route = getRouteApi("/runs");

/** What the person's agents did because of messages. The event stream keeps it up to date. */
export function RunsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const offset = search.offset ?? 0;
  const runs = useQuery(runsQuery(filter, offset));
  const counts = useQuery(runCountsQuery(filter.agent)).data;
  const items = runs.data?.items ?? [];
  const total = runs.data?.total ?? 0;
  const hasFilter = Object.keys(filter).length > 0;
  const narrow = (change: Partial<RunSearch>) => void navigate({ search: (now) => ({ ...now, ...change, offset: undefined }) });
  const turn = (next: number) => void navigate({ search: (now) => ({ ...now, offset: next || undefined }) });
  return (
    <Page
      title="Runs"
      subtitle={counts ? totalsOf(counts) : undefined}
      actions={
        <Link
          to="/automation"
          className="inline-flex h-7 items-center gap-1.5 rounded-md border border-line px-2.5 font-medium whitespace-nowrap hover:bg-panel pointer-coarse:h-11"
        >
          <OctagonX size={14} aria-hidden="true" />
          Stop all
        </Link>
      }
    >
      <RunFilters search={search} counts={counts} onChange={narrow} />
      {runs.isError && !runs.data ? <Failed error={runs.error} retry={() => void runs.refetch()} /> : null}
      {runs.isLoading ? <Skeleton /> : null}
      {runs.data && items.length === 0 ? (
        hasFilter || offset > 0 ? (
          <Empty title="No matching runs">
            <Button onClick={() => void navigate({ search: {} })}>Clear filter</Button>
          </Empty>
        ) : (
          <Empty title="No runs yet">
            <p>A run is one start of an agent's command by a message. To have runs, open an agent, choose “Start a run” in its Runs tab and write to it.</p>
            <AgentsNext />
          </Empty>
        )
      ) : null}
      {items.length ? (
        <div className="px-6 pb-6 max-md:px-4">
          <DataTable
            label="Runs"
            columns={runColumns()}
            rows={items}
            keyOf={(run) => run.id}
            onRow={(run) => void navigate({ to: "/runs/$id", params: { id: String(run.id) } })}
          />
          <Pager offset={offset} count={items.length} total={total} size={RUNS_PAGE} onTurn={turn} note="– = not reported by the command." />
        </div>
      ) : null}
    </Page>
  );
}
