import type { Trace } from "../../api/traces";
import { RunLink } from "../../runs/RunLink";
import { Badge } from "../../ui/Badge";
import type { Column } from "../../ui/DataTable";
import { AgentName } from "../../ui/Names";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";

/** The columns of the table of traces. A click on the action opens the trace. */
export function traceColumns(peek: (trace: Trace) => void): Array<Column<Trace>> {
  return [
    { title: "When", cell: (trace) => <Time at={trace.created_at} as="date" /> },
    {
      title: "By",
      cell: (trace) =>
        trace.agent ? (
          // A click on the link opens the agent and not the trace.
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
            <Shown text={trace.error} most={500} />
          </Badge>
        ) : (
          <span className="text-sm text-muted">done</span>
        ),
    },
    { title: "Run", isEnd: true, isWideOnly: true, cell: ({ run_id }) => (run_id ? <RunLink id={run_id} label={String(run_id)} /> : "") },
    { title: "Took", isEnd: true, cell: (trace) => <span className="whitespace-nowrap">{trace.duration_ms} ms</span> },
  ];
}
