import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, RotateCw } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";

import { meQuery } from "../../api/queries";
import { type ActionStats, TRACES_PAGE, type Trace, traceStatsQuery, tracesQuery } from "../../api/traces";
import { appearance, hasSingleKeys } from "../../lib/appearance";
import { useStore } from "../../lib/store";
import { fromInput, toInput } from "../../lib/time";
import { Badge } from "../../ui/Badge";
import { Button, IconButton } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { Field, INPUT } from "../../ui/Field";
import { AgentName } from "../../ui/Names";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { SelectField } from "../../ui/TextField";
import { Time } from "../../ui/Time";
import { PeekPanel } from "./PeekPanel";
import { type TraceSearch, exportLink, filterOf, neighbour } from "./filter";

const route = getRouteApi("/traces");

const SPANS = [
  { label: "Hour", hours: 1 },
  { label: "Day", hours: 24 },
  { label: "Week", hours: 168 },
];
/** More of them are found in the list of the filter. */
const SHOWN_ACTIONS = 12;

/** What the person and their agents did, call by call. */
export function TracesPage() {
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const offset = search.offset ?? 0;
  const traces = useQuery(tracesQuery(filter, offset));
  const { action: _, ...wider } = filter;
  const stats = useQuery(traceStatsQuery(wider));
  const opener = useRef<HTMLElement | null>(null);

  const items = traces.data?.items ?? [];
  const total = traces.data?.total ?? 0;
  const at = items.findIndex((one) => one.id === search.peek);
  const peeked = items[at];
  const hasFilter = Object.keys(filter).length > 0;

  const narrow = (change: Partial<TraceSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...change, offset: undefined, peek: undefined }) });
  const turn = (next: number) => void navigate({ search: (now) => ({ ...now, offset: next || undefined, peek: undefined }) });
  const peek = (trace: Trace) => {
    if (search.peek === undefined) opener.current = document.activeElement as HTMLElement | null;
    // Back closes it: on a phone it is all that one sees. Going from one to the next is no step of its own.
    void navigate({ search: (now) => ({ ...now, peek: trace.id }), replace: search.peek !== undefined });
  };
  const close = () => {
    void navigate({ search: (now) => ({ ...now, peek: undefined }), replace: true });
    opener.current?.focus();
  };
  const step = async (by: 1 | -1) => {
    if (!peeked) return;
    const near = neighbour(items, peeked, by);
    if (near) return peek(near);
    for (let page = offset + by * TRACES_PAGE; page >= 0 && page < total; page += by * TRACES_PAGE) {
      const loaded = await client.fetchQuery(tracesQuery(filter, page)).catch(() => null);
      const found = loaded ? neighbour(loaded.items, peeked, by) : undefined;
      if (!loaded) return;
      if (found) {
        void navigate({ search: (now) => ({ ...now, offset: page || undefined, peek: found.id }), replace: true });
        return;
      }
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && search.peek !== undefined && !event.defaultPrevented) return close();
    if (event.ctrlKey || event.metaKey || event.altKey || !hasSingleKeys()) return;
    if ((event.target as HTMLElement).closest("input, select, textarea, [role=dialog]")) return;
    if (event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    if (peeked) void step(event.key === "j" ? 1 : -1);
    else if (items[0]) peek(items[0]);
  };

  const columns: Array<Column<Trace>> = [
    { title: "When", cell: (trace) => <Time at={trace.created_at} as="date" /> },
    {
      title: "By",
      cell: (trace) =>
        trace.agent ? (
          // The link leads elsewhere, and not to the trace.
          <span onClick={(event) => event.stopPropagation()}>
            <AgentName name={trace.agent} />
          </span>
        ) : (
          <span className="text-muted">you</span>
        ),
    },
    {
      title: "Action",
      cell: (trace) => (
        <button
          type="button"
          className="min-h-6 text-left font-mono text-sm text-accent hover:underline"
          onClick={(event) => {
            event.stopPropagation();
            peek(trace);
          }}
        >
          {trace.action}
        </button>
      ),
    },
    {
      title: "Outcome",
      cell: (trace) =>
        trace.error ? (
          <Badge colour="bad" icon="✕">
            {trace.error}
          </Badge>
        ) : (
          <span className="text-sm text-muted">done</span>
        ),
    },
    { title: "Run", isEnd: true, isWideOnly: true, cell: (trace) => trace.run_id ?? "" },
    { title: "Took", isEnd: true, cell: (trace) => <span className="whitespace-nowrap">{trace.duration_ms} ms</span> },
  ];

  return (
    // Keys work on the whole page, wherever in it the focus is.
    <div className="flex min-w-0 flex-1" onKeyDown={onKeyDown}>
      <Page
        title="Traces"
        subtitle="What you and your agents did"
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
        <Filters search={search} stats={stats.data?.items ?? []} onChange={narrow} />
        <ActionCounts stats={stats.data?.items ?? []} chosen={filter.action} onChoose={(action) => narrow({ action })} />
        {traces.isError ? <Failed error={traces.error} retry={() => void traces.refetch()} /> : null}
        {traces.isLoading ? <Skeleton /> : null}
        {traces.data && items.length === 0 ? (
          hasFilter || offset > 0 ? (
            <Empty title="Nothing matches the filter">
              <Button onClick={() => void navigate({ search: {} })}>Clear the filter</Button>
            </Empty>
          ) : (
            <Empty title="Nothing has been done yet">What you and your agents do over MCP and the API appears here.</Empty>
          )
        ) : null}
        {items.length ? (
          <div className="px-6 pb-6 max-md:px-4">
            <DataTable
              label="Traces"
              columns={columns}
              rows={items}
              keyOf={(trace) => trace.id}
              onRow={peek}
              isCurrent={(trace) => trace.id === search.peek}
            />
            <div className="flex flex-wrap items-center gap-2 pt-3">
              <span className="flex-1 text-muted tabular-nums">
                {offset + 1} to {offset + items.length} of {total.toLocaleString()}
              </span>
              <Button disabled={offset === 0} onClick={() => turn(Math.max(0, offset - TRACES_PAGE))}>
                Newer
              </Button>
              <Button disabled={offset + items.length >= total} onClick={() => turn(offset + TRACES_PAGE)}>
                Older
              </Button>
            </div>
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

function Filters({ search, stats, onChange }: {
  search: TraceSearch;
  stats: ActionStats[];
  onChange: (change: Partial<TraceSearch>) => void;
}) {
  const agents = useQuery(meQuery).data?.agents.map((agent) => agent.name) ?? [];
  const actions = stats.map((one) => one.action).sort();
  // What the address asks for can be chosen, whether or not there is any of it.
  const withChosen = (list: string[], chosen: string | undefined) => (chosen && !list.includes(chosen) ? [chosen, ...list] : list);
  return (
    <form
      aria-label="Filter"
      className="grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] items-end gap-3 px-6 pt-4 max-md:px-4"
      onSubmit={(event) => event.preventDefault()}
    >
      <SelectField label="Agent" value={search.agent ?? ""} onChange={(agent) => onChange({ agent: agent || undefined })}>
        <option value="">You and your agents</option>
        {withChosen(agents, search.agent).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField label="Action" value={search.action ?? ""} onChange={(action) => onChange({ action: action || undefined })}>
        <option value="">Any</option>
        {withChosen(actions, search.action).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <Moment label="Since" value={search.since} onChange={(since) => onChange({ since })} />
      <Moment label="Until" value={search.until} onChange={(until) => onChange({ until })} />
      <div className="col-span-full flex flex-wrap gap-1" role="group" aria-label="The last">
        {SPANS.map((span) => (
          <Button
            key={span.label}
            size="form"
            className="px-3!"
            aria-label={`The last ${span.label.toLowerCase()}`}
            onClick={() => onChange({ since: new Date(Date.now() - span.hours * 3_600_000).toISOString(), until: undefined })}
          >
            {span.label}
          </Button>
        ))}
        <Button size="form" look="plain" className="px-3!" onClick={() => onChange({ agent: undefined, action: undefined, since: undefined, until: undefined })}>
          Clear
        </Button>
      </div>
    </form>
  );
}

/** A moment. It counts when one is done with it: while one types, it is none. */
function Moment({ label, value, onChange }: { label: string; value: string | undefined; onChange: (at: string | undefined) => void }) {
  const zone = useStore(appearance, (chosen) => chosen.zone);
  const shown = value ? toInput(value) : "";
  const commit = (text: string) => {
    if (text !== shown) onChange(fromInput(text));
  };
  return (
    <Field label={label}>
      {(wiring) => (
        <input
          {...wiring}
          key={`${shown} ${zone}`}
          type="datetime-local"
          defaultValue={shown}
          onBlur={(event) => commit(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit(event.currentTarget.value);
          }}
          className={INPUT}
        />
      )}
    </Field>
  );
}

function ActionCounts({ stats, chosen, onChoose }: {
  stats: ActionStats[];
  chosen: string | undefined;
  onChoose: (action: string | undefined) => void;
}) {
  if (stats.length === 0) return null;
  const rest = stats.length - SHOWN_ACTIONS;
  return (
    <ul aria-label="Counts per action" className="flex flex-wrap gap-2 px-6 py-4 max-md:px-4">
      {stats.slice(0, SHOWN_ACTIONS).map((one) => (
        <li key={one.action}>
          <button
            type="button"
            aria-pressed={one.action === chosen}
            title={`On average ${one.average_duration_ms} ms, at most ${one.longest_duration_ms} ms`}
            onClick={() => onChoose(one.action === chosen ? undefined : one.action)}
            className="inline-flex h-7 items-center gap-2 rounded-md border border-line px-2 hover:bg-panel aria-pressed:border-accent aria-pressed:bg-selected pointer-coarse:h-11"
          >
            <span className="font-mono text-sm">{one.action}</span>
            <span className="tabular-nums">{one.count.toLocaleString()}</span>
            {one.errors ? <span className="text-sm text-rejected tabular-nums">{one.errors.toLocaleString()} failed</span> : null}
          </button>
        </li>
      ))}
      {rest > 0 ? <li className="flex h-7 items-center text-muted">and {rest} more in the filter</li> : null}
    </ul>
  );
}
