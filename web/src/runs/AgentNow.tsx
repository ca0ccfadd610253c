import { useQuery } from "@tanstack/react-query";

import { isActive, runsQuery } from "../api/runs";
import { Badge } from "../ui/Badge";
import { RunLink } from "./RunLink";
import { STATUSES, againWords, spanWords, timeOf } from "./words";
import { useSecond } from "./useSecond";

/** What an agent works on now, if a message has started it. */
export default function AgentNow({ name }: { name: string }) {
  const run = useQuery(runsQuery({ agent: name })).data?.items.find(isActive);
  const now = useSecond(run !== undefined);
  if (!run) return null;
  const { icon, colour } = STATUSES[run.status];
  return (
    <span className="inline-flex items-center gap-2">
      <Badge colour={colour} icon={icon}>
        {run.status === "running" ? "Working" : "Waiting"}{" "}
        <span className="font-normal">· {run.status === "deferred" ? againWords(run, now).replace("Starts", "starts") : spanWords(timeOf(run, now))}</span>
      </Badge>
      <RunLink id={run.id} />
    </span>
  );
}
