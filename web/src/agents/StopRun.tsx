import { useQuery } from "@tanstack/react-query";

import { isActive, runsQuery } from "../api/runs";
import { StopButton } from "../runs/RunButtons";

/** Stops what the agent works on now, if a message has started it. */
export function StopRun({ name }: { name: string }) {
  const run = useQuery(runsQuery({ agent: name })).data?.items.find(isActive);
  return run ? <StopButton key={`${run.id} ${run.status}`} run={run} size="usual" /> : null;
}
