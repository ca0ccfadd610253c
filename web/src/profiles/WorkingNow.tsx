import { useQuery } from "@tanstack/react-query";

import type { Profile } from "../api/directory";
import { meQuery } from "../api/queries";
import { isActive, runsQuery } from "../api/runs";
import { RunLink } from "../runs/RunLink";
import { spanWords, timeOf } from "../runs/words";
import { useSecond } from "../runs/useSecond";
import { PresenceDot } from "../ui/PresenceDot";

const WORDS = { working: "Working", paused: "Paused" } as const;

/** That an agent works or is paused. What it works on, only its owner sees. */
export function WorkingNow({ profile: { name, presence } }: { profile: Profile }) {
  const isOwn = useQuery(meQuery).data?.agents.some((agent) => agent.name === name) ?? false;
  if (presence !== "working" && presence !== "paused") return null;
  return (
    <p className="flex min-h-9 flex-wrap items-center gap-2 rounded-md bg-panel px-3 py-1">
      <PresenceDot presence={presence} isDecorative />
      <span className={presence === "working" ? "text-in-progress" : "text-amber"}>{WORDS[presence]}</span>
      {isOwn && presence === "working" ? <OwnRun name={name} /> : null}
    </p>
  );
}

function OwnRun({ name }: { name: string }) {
  const run = useQuery(runsQuery({ agent: name })).data?.items.find(isActive);
  const now = useSecond(run !== undefined);
  return run ? (
    <>
      <RunLink id={run.id} />
      <span className="text-muted">{spanWords(timeOf(run, now))}</span>
    </>
  ) : null;
}
