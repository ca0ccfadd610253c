import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { runsQuery } from "../../api/runs";
import { RunLink } from "../../runs/RunLink";
import { TriggerText } from "../../runs/TriggerText";
import { ListedStatus, RunTime } from "../../runs/parts";
import { Failed } from "../../ui/States";
import { Time } from "../../ui/Time";

const SHOWN = 5;
const LINK = "inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11";

/** The latest runs of an agent. The event stream keeps them up to date. */
export function RecentRuns({ agent, most = SHOWN }: { agent: string; most?: number }) {
  const runs = useQuery(runsQuery({ agent }));
  const items = runs.data?.items.slice(0, most) ?? [];
  return (
    <section aria-label="Recent runs" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h2 className="flex-1 font-semibold">Recent runs</h2>
        {items.length ? (
          <Link to="/runs" search={{ agent }} className={LINK}>
            All runs ({runs.data?.total.toLocaleString()})
          </Link>
        ) : null}
      </div>
      {runs.isError && !runs.data ? <Failed error={runs.error} retry={() => void runs.refetch()} /> : null}
      {runs.data && items.length === 0 ? <p className="text-muted">No runs yet. Each message that starts the agent appears here.</p> : null}
      <ul>
        {items.map((run) => (
          <li key={run.id} className="border-b border-line py-2">
            <div className="flex flex-wrap items-center gap-x-3">
              <ListedStatus run={run} />
              <span className="flex-1">
                <RunLink id={run.id} />
              </span>
              <RunTime run={run} />
              <Time at={run.created_at} as="age" />
            </div>
            <TriggerText run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}
