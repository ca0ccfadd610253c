import { useState } from "react";

import type { Agent } from "../api/types";
import { Button } from "../ui/Button";
import { Time } from "../ui/Time";
import { LiftQuarantine } from "./LiftQuarantine";

/** Why the agent is paused or quarantined, if it is. */
export function StoppedNotice({ agent }: { agent: Agent }) {
  const [isAsked, setAsked] = useState(false);
  if (!agent.quarantined_at && !agent.paused_at) return null;
  return (
    <section aria-label="Status" className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-4">
      {agent.quarantined_at ? (
        <>
          <p>
            <strong className="text-rejected">Quarantined</strong> since <Time at={agent.quarantined_at} as="clock" /> (
            <Time at={agent.quarantined_at} />
            ): Stoa stopped the agent because its reputation fell below 0.3, after too many rejections. It cannot start until you release it.
          </p>
          <Button className="self-start" onClick={() => setAsked(true)}>
            Release from quarantine </Button>
        </>
      ) : null}
      {agent.paused_at ? (
        <p>
          <strong className="text-amber">Paused</strong> since <Time at={agent.paused_at} as="clock" /> (<Time at={agent.paused_at} />
          ){" "}
          {agent.pause_reason === "budget"
            ? "because today's budget is used up. The agent resumes at 00:00 UTC or when you resume it."
            : "manually, until you resume the agent."}
        </p>
      ) : null}
      {isAsked ? <LiftQuarantine agent={agent} onClose={() => setAsked(false)} /> : null}
    </section>
  );
}
