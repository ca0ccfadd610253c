import type { ReactNode } from "react";

import { type Run, isActive } from "../api/runs";
import { Badge } from "../ui/Badge";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { classes } from "../ui/classes";
import { RunLink } from "./RunLink";
import { RetryButton, StopButton } from "./RunButtons";
import { useSecond } from "./useSecond";
import { STATUSES, costWords, reasonWords, spanWords, timeOf } from "./words";

/** For people who wait for an answer: what the agent does, not what its program does. */
const WORDS: Partial<Record<Run["status"], string>> = { queued: "Waiting", running: "Working", succeeded: "Done" };

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
      return <Plain>{head}</Plain>;
    case "queued":
      return (
        <Plain>
          {head}
          <span className="text-muted">Waiting for a free slot.</span>
          <StopButton key={run.status} run={run} size="row" />
        </Plain>
      );
    case "running":
      return (
        <Boxed look="border-in-progress/40" head={head} button={<StopButton key={run.status} run={run} size="row" />}>
          {run.last_step ? (
            <span className="line-clamp-1 font-mono break-all">
              <Shown text={run.last_step} most={160} />
            </span>
          ) : null}
        </Boxed>
      );
    case "cancelled":
      return (
        <Plain>
          {head}
          <span className="text-muted">{reasonWords(run.reason)}</span>
          <RetryButton run={run} size="row" />
        </Plain>
      );
    case "failed":
    case "timed_out":
      return (
        <Boxed look="border-rejected/40" head={head} button={<RetryButton run={run} size="row" />}>
          <Shown text={run.last_step ?? reasonWords(run.reason) ?? ""} most={MOST_OF_LINE} title="Full reason" />
        </Boxed>
      );
  }
}

function Plain({ children }: { children: ReactNode }) {
  return <div className="flex min-h-6 flex-wrap items-center gap-x-2">{children}</div>;
}

function Boxed({ look, head, button, children }: { look: string; head: ReactNode; button: ReactNode; children: ReactNode }) {
  return (
    <div className={classes("rounded-md border", look)}>
      <div className="flex min-h-8 flex-wrap items-center gap-x-2 px-2 py-0.5">
        {head}
        <span className="ml-auto">{button}</span>
      </div>
      {children ? <div className="border-t border-line px-2 py-1 text-sm text-muted [overflow-wrap:anywhere]">{children}</div> : null}
    </div>
  );
}
