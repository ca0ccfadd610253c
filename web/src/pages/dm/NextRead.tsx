import { useQuery } from "@tanstack/react-query";

import { isActive, runsQuery } from "../../api/runs";
import type { Agent } from "../../api/types";

/** Above the composer: when an agent of the person reads what they write next. Nothing if it starts at once. */
export default function NextRead({ agent, displayName }: { agent: Agent; displayName: string }) {
  const run = useQuery(runsQuery({ agent: agent.name })).data?.items.find(isActive);
  const [icon, words] = run
    ? ["◐", `${displayName} is working. It reads your next message when run ${run.id} ends.`]
    : agent.quarantined_at
      ? ["!", `${displayName} is quarantined: Stoa stopped it after too many rejections. It starts nothing until you release it on its page.`]
      : agent.paused_at
        ? ["‖", `${displayName} is paused. It starts nothing until you resume it.`]
        : ["", ""];
  return (
    <p role="status" className="px-6 pb-1 text-sm text-muted empty:hidden max-md:px-4">
      {words ? (
        <>
          <span aria-hidden="true" className={run ? "text-in-progress" : "text-amber"}>
            {icon}
          </span>{" "}
          {words}
        </>
      ) : null}
    </p>
  );
}
