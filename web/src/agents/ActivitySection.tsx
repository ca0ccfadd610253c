import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";

import { type Trace, dayOfTracesQuery } from "../api/agents";
import { sentenceOf } from "../api/problem";
import { clockTime } from "../lib/time";
import { type Column, DataTable } from "../ui/DataTable";
import { Sparkline } from "../ui/Sparkline";
import { Time } from "../ui/Time";
import { type Bar, barsOf, spanOf } from "./activity";

const clock = (at: number) => clockTime(new Date(at).toISOString());

const BAR_COLUMNS: Array<Column<Bar>> = [
  { title: "Time", cell: (bar) => `${clock(bar.from)} to ${clock(bar.to)}` },
  { title: "Calls", isEnd: true, cell: (bar) => bar.calls },
  { title: "Failed", isEnd: true, cell: (bar) => bar.failed },
];

const CALL_COLUMNS: Array<Column<Trace>> = [
  { title: "Call", cell: (trace) => <code className="font-mono text-sm">{trace.action}</code> },
  {
    title: "Outcome",
    cell: (trace) => (trace.error ? <span className="text-rejected">✕ {trace.error}</span> : <span className="text-approved">✓ done</span>),
  },
  { title: "Took", isEnd: true, isWideOnly: true, cell: (trace) => `${trace.duration_ms} ms` },
  { title: "When", isEnd: true, cell: (trace) => <Time at={trace.created_at} as="clock" /> },
];

/** The calls of the agent in the last 24 hours. */
export function ActivitySection({ name }: { name: string }) {
  const traces = useQuery(dayOfTracesQuery(name));
  const [isTable, setTable] = useState(false);
  const shown = useMemo(() => {
    if (!traces.data) return null;
    const span = spanOf(traces.data, Date.now());
    return { span, bars: barsOf(traces.data.items, span) };
  }, [traces.data]);
  const failed = traces.data?.items.filter((trace) => trace.error).length ?? 0;
  return (
    <section aria-label="Activity" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h2 className="font-semibold">Activity</h2>
        {traces.data && shown ? (
          <span className="text-muted">
            {traces.data.total} {traces.data.total === 1 ? "call" : "calls"} in 24 h
            {shown.span.isWhole ? "" : `; showing the latest ${traces.data.items.length}, since ${clock(shown.span.from)}`}
            {failed ? `, ${failed} failed` : ""}
          </span>
        ) : null}
        <span className="flex-1" />
        {traces.data?.items.length ? (
          <button type="button" aria-expanded={isTable} className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11" onClick={() => setTable(!isTable)}>
            {isTable ? "Show chart" : "Show table"}
          </button>
        ) : null}
      </div>
      {traces.isError ? <p role="alert">{sentenceOf(traces.error)}</p> : null}
      {traces.isLoading ? <p className="text-muted">Loading…</p> : null}
      {traces.data?.items.length === 0 ? <p className="text-muted">Nothing in the last 24 hours. Each call of the agent to Stoa appears here.</p> : null}
      {traces.data?.items.length && shown ? (
        <>
          {isTable ? (
            <DataTable
              label="Calls over time"
              columns={BAR_COLUMNS}
              rows={shown.bars.filter((bar) => bar.calls > 0)}
              keyOf={(bar) => bar.from}
            />
          ) : (
            <div>
              <Sparkline label={`@${name}'s calls over time`} values={shown.bars.map((bar) => bar.calls)} className="h-16 w-full" />
              <div className="flex justify-between text-xs text-muted">
                <span>{shown.span.isWhole ? "24 h ago" : clock(shown.span.from)}</span>
                <span>now</span>
              </div>
            </div>
          )}
          <div className="mt-4 flex flex-wrap items-baseline gap-x-3">
            <h3 className="flex-1 font-semibold">Latest calls</h3>
            <Link to="/traces" search={{ agent: name }} className="inline-flex min-h-6 items-center text-accent hover:underline">
              All traces of @{name}
            </Link>
          </div>
          <DataTable label="Latest calls" columns={CALL_COLUMNS} rows={traces.data.items.slice(0, 10)} keyOf={(trace) => trace.id} />
        </>
      ) : null}
    </section>
  );
}
