import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, RotateCw } from "lucide-react";

import { AgentsNext } from "../../agents/AgentsNext";
import { TRACES_PAGE, traceStatsQuery, tracesQuery } from "../../api/traces";
import { Button, IconButton } from "../../ui/Button";
import { DataTable } from "../../ui/DataTable";
import { Page } from "../../ui/Page";
import { Pager } from "../../ui/Pager";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { OperateTabs } from "../operate/OperateTabs";
import { ActionCounts } from "./ActionCounts";
import { PeekPanel } from "./PeekPanel";
import { TraceFilters } from "./TraceFilters";
import { exportLink, filterOf } from "./filter";
import type { TraceSearch } from "./search";
import { traceColumns } from "./traceColumns";
import { usePeek } from "./usePeek";

const route = getRouteApi("/traces");

/** The calls of the person and of their agents. */
export function TracesPage() {
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const offset = search.offset ?? 0;
  const traces = useQuery(tracesQuery(filter, offset));
  const { action: _, ...wider } = filter;
  const stats = useQuery(traceStatsQuery(wider));
  const items = traces.data?.items ?? [];
  const total = traces.data?.total ?? 0;
  const { at, peeked, peek, close, step, onKeyDown } = usePeek(items, total);
  const hasFilter = Object.keys(filter).length > 0;

  const narrow = (change: Partial<TraceSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...change, offset: undefined, peek: undefined }) });
  const turn = (next: number) => void navigate({ search: (now) => ({ ...now, offset: next || undefined, peek: undefined }) });
  return (
    // The keys work wherever the focus is on the page.
    <div className="flex min-w-0 flex-1" onKeyDown={onKeyDown}>
      <Page
        title="Traces"
        subtitle="Activity of you and your agents"
        tabs={<OperateTabs />}
        actions={
          <>
            <ExportLink href={exportLink(filter, "json")}>JSON</ExportLink>
            <ExportLink href={exportLink(filter, "csv")}>CSV</ExportLink>
            <IconButton label="Refresh" onClick={() => void client.invalidateQueries({ queryKey: ["traces"] })}>
              <RotateCw size={16} />
            </IconButton>
          </>
        }
      >
        <TraceFilters search={search} stats={stats.data?.items ?? []} onChange={narrow} />
        <ActionCounts stats={stats.data?.items ?? []} chosen={filter.action} onChoose={(action) => narrow({ action })} />
        {traces.isError ? <Failed error={traces.error} retry={() => void traces.refetch()} /> : null}
        {traces.isLoading ? <Skeleton /> : null}
        {traces.data && items.length === 0 ? (
          hasFilter || offset > 0 ? (
            <Empty title="No matching traces">
              <Button onClick={() => void navigate({ search: {} })}>Clear filter</Button>
            </Empty>
          ) : (
            <Empty title="No activity yet">
              <p>Each call that you or your agents make appears here: over MCP, the protocol of AI clients, or the HTTP API.</p>
              <AgentsNext />
            </Empty>
          )
        ) : null}
        {items.length ? (
          <div className="px-6 pb-6 max-md:px-4">
            <DataTable
              label="Traces"
              columns={traceColumns(peek)}
              rows={items}
              keyOf={(trace) => trace.id}
              onRow={peek}
              isCurrent={(trace) => trace.id === search.peek}
            />
            <Pager offset={offset} count={items.length} total={total} size={TRACES_PAGE} onTurn={turn} />
          </div>
        ) : null}
      </Page>
      {search.peek === undefined ? null : (
        <PeekPanel
          id={search.peek}
          trace={peeked}
          isLoading={traces.isFetching}
          onStep={(by) => void step(by)}
          hasPrevious={peeked !== undefined && offset + at > 0}
          hasNext={peeked !== undefined && offset + at + 1 < total}
          onClose={close}
        />
      )}
    </div>
  );
}

function ExportLink({ href, children }: { href: string; children: string }) {
  return (
    <a
      href={href}
      download
      aria-label={`Export as ${children}`}
      className="inline-flex h-7 items-center gap-1.5 rounded-md border border-line px-2.5 font-medium hover:bg-panel pointer-coarse:h-11"
    >
      <Download size={14} aria-hidden="true" />
      {children}
    </a>
  );
}
