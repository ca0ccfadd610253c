import { type Run, isActive } from "../api/runs";
import { Badge } from "../ui/Badge";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { RunLink } from "./RunLink";
import { RetryButton, StopButton } from "./RunButtons";
import { StatusBox, StatusLine } from "./StatusBox";
import { useSecond } from "./useSecond";
import { STATUSES, againWords, costWords, reasonWords, spanWords, timeOf } from "./words";

/** For people who wait for an answer: what the agent does, not what its program does. */
const WORDS: Partial<Record<Run["status"], string>> = { queued: "Waiting", deferred: "Waiting", running: "Working", succeeded: "Done" };

/** The run that a message has started, in a line or two. */
export function RunLine({ run, name }: { run: Run; name?: string }) {
  const now = useSecond(isActive(run));
  const { icon, colour, word } = STATUSES[run.status];
  const said = WORDS[run.status] ?? word;
  const span = spanWords(timeOf(run, now));
  const head = (
    <>
      <Badge colour={colour} icon={icon}>
        {name ? `@${name}: ${said}` : said} <span className="font-normal">· {run.status === "failed" ? `after ${span}` : span}</span>
      </Badge>
      <RunLink id={run.id} />
      {run.cost_usd === null || run.cost_usd === undefined ? null : <span className="text-muted">{costWords(run.cost_usd)}</span>}
    </>
  );
  switch (run.status) {
    case "succeeded":
      return <StatusLine>{head}</StatusLine>;
    case "queued":
      return (
        <StatusLine>
          {head}
          <span className="text-muted">Waiting for a free slot.</span>
          <StopButton key={run.status} run={run} size="row" />
        </StatusLine>
      );
    case "deferred":
      return (
        <StatusLine>
          {head}
          <span className="text-muted">{reasonWords(run.reason)} {againWords(run, now)}.</span>
          <StopButton key={run.status} run={run} size="row" />
        </StatusLine>
      );
    case "running":
      return (
        <StatusBox look="busy" head={head} buttons={<StopButton key={run.status} run={run} size="row" />}>
          {run.last_step ? (
            <span className="line-clamp-1 font-mono break-all">
              <Shown text={run.last_step} most={160} />
            </span>
          ) : null}
        </StatusBox>
      );
    case "cancelled":
      return (
        <StatusLine>
          {head}
          <span className="text-muted">{reasonWords(run.reason)}</span>
          <RetryButton run={run} size="row" />
        </StatusLine>
      );
    case "failed":
    case "timed_out":
      return (
        <StatusBox
          look="bad"
          head={head}
          buttons={
            <>
              <RetryButton run={run} size="row" />
              {/* On a phone there is no room for a second way there. */}
              <span className="max-md:hidden">
                <RunLink id={run.id} label="Open run" />
              </span>
            </>
          }
        >
          <Shown text={run.last_step ?? reasonWords(run.reason) ?? ""} most={MOST_OF_LINE} title="Full reason" />
        </StatusBox>
      );
  }
}
