import { useQuery } from "@tanstack/react-query";

import { isActive, runsQuery } from "../../api/runs";
import type { Agent } from "../../api/types";
import { nextReadWords } from "./nextReadWords";
import { useIsWorking } from "./useIsWorking";

/** Above the composer: when an agent of the person reads what they write next. Nothing if it starts at once. */
export default function NextRead({ agent, displayName }: { agent: Agent; displayName: string }) {
  const run = useQuery({ ...runsQuery({ agent: agent.name }), enabled: agent.trigger_mode !== "passive" }).data?.items.find(isActive);
  const words = nextReadWords(agent, displayName, run, useIsWorking(agent));
  return (
    <p role="status" className="px-6 pb-1 text-sm text-muted empty:hidden max-md:px-4">
      {words ? (
        <>
          <span aria-hidden="true" className={words.isWorking ? "text-in-progress" : "text-amber"}>
            {words.icon}
          </span>{" "}
          {words.text}
        </>
      ) : null}
    </p>
  );
}
