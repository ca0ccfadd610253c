import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";

import { Problem } from "../../api/problem";
import { type Run, isActive, runQuery } from "../../api/runs";
import { RetryButton, StopButton } from "../../runs/RunButtons";
import { RunBadge } from "../../runs/parts";
import { againWords, spanWords, timeOf } from "../../runs/words";
import { useSecond } from "../../runs/useSecond";
import { AgentName } from "../../ui/Names";
import { Page } from "../../ui/Page";
import { Failed, Skeleton } from "../../ui/States";
import { lazyPart } from "../../ui/lazyPart";
import { NotFound } from "../NotFound";
import { LogPart } from "./LogPart";
import { RunFacts } from "./RunFacts";
import { RunOutput } from "./RunOutput";
import { RunTimeline } from "./RunTimeline";

const WorkspacePart = lazyPart(() => import("./WorkspacePart").then((part) => part.WorkspacePart));

const route = getRouteApi("/runs/$id");
/** The stream reports each change. This is for events that did not arrive. */
const LOOKS_AGAIN_MS = 10_000;

/** One run: what started it, what its program was given and did, and how it ended. */
export function RunPage() {
  const id = Number(route.useParams().id);
  const navigate = route.useNavigate();
  const isNumber = Number.isSafeInteger(id) && id > 0;
  const query = useQuery({
    ...runQuery(id),
    enabled: isNumber,
    refetchInterval: ({ state }) => (state.data && isActive(state.data.run) ? LOOKS_AGAIN_MS : false),
  });
  if (!isNumber || (query.error instanceof Problem && query.error.status === 404)) return <NotFound />;
  const details = query.data;
  if (!details) {
    return (
      <Page key={id} title={`Run ${id}`}>
        {query.isError ? <Failed error={query.error} retry={() => void query.refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { run, workspace, harness_run: harness } = details;
  // A run that was deferred has begun before.
  const hasBegun = run.started_at !== null || Boolean(details.steps?.length);
  const open = (next: Run) => void navigate({ to: "/runs/$id", params: { id: String(next.id) } });
  return (
    <Page
      key={id}
      title={`Run ${id}`}
      subtitle={<Subtitle run={run} />}
      actions={
        <>
          <Link to="/runs" search={{ agent: run.agent }} className="inline-flex h-7 items-center px-1 text-accent hover:underline max-sm:hidden pointer-coarse:h-11">
            All runs
          </Link>
          {isActive(run) ? <StopButton key={run.status} run={run} size="usual" /> : <RetryButton run={run} size="usual" onRetried={open} />}
        </>
      }
    >
      <div className="flex min-h-full max-lg:flex-col">
        <div className="flex min-w-0 flex-1 flex-col">
          <RunTimeline details={details} />
          {workspace ? <WorkspacePart run={run} workspace={workspace} isReadOnly={run.foreign && details.agent?.foreign_reach !== "agent"} /> : null}
          {hasBegun ? <RunOutput steps={details.steps} isLive={isActive(run)} /> : null}
          {harness?.error_log ? <LogPart title="Error log" text={harness.error_log} /> : null}
          {harness?.logs_excerpt ? <LogPart title="Raw output" text={harness.logs_excerpt} /> : null}
        </div>
        <RunFacts details={details} />
      </div>
    </Page>
  );
}

function Subtitle({ run }: { run: Run }) {
  const now = useSecond(isActive(run));
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <RunBadge status={run.status} note={run.status === "deferred" ? againWords(run, now) : spanWords(timeOf(run, now))} />
      <span className="truncate">
        <AgentName name={run.agent} />, attempt {run.attempt}
      </span>
    </span>
  );
}
