import { type Run, type RunStatus, isActive } from "../api/runs";
import { Badge } from "../ui/Badge";
import { STATUSES, againWords, spanWords, timeOf } from "./words";
import { useSecond } from "./useSecond";

/** The status of a run, always with its picture and its word. */
export function RunBadge({ status, note }: { status: RunStatus; note?: string }) {
  const { word, icon, colour } = STATUSES[status];
  return (
    <Badge colour={colour} icon={icon}>
      {word}
      {note ? <span className="font-normal">· {note}</span> : null}
    </Badge>
  );
}

/** The same in a list, where a run that waits for the provider of its model says until when. */
export function ListedStatus({ run }: { run: Run }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <RunBadge status={run.status} />
      {run.status === "deferred" ? <span className="text-sm text-muted">{againWords(run)}</span> : null}
    </span>
  );
}

/** How long a run takes. It counts on while the run is under way. */
export function RunTime({ run }: { run: Run }) {
  const now = useSecond(isActive(run));
  return <span className="whitespace-nowrap tabular-nums">{spanWords(timeOf(run, now))}</span>;
}
