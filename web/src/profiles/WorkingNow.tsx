import { useQuery } from "@tanstack/react-query";

import type { Profile } from "../api/directory";
import { meQuery } from "../api/queries";
import AgentNow from "../runs/AgentNow";
import { PresenceDot } from "../ui/PresenceDot";

const WORDS = { working: "Working", paused: "Paused" } as const;

/** That an agent works or is paused. What it works on, only its owner sees. */
export function WorkingNow({ profile }: { profile: Profile }) {
  const isOwn = useQuery(meQuery).data?.agents.some((agent) => agent.name === profile.name);
  const { presence } = profile;
  if (presence !== "working" && presence !== "paused") return null;
  return (
    <p className="flex min-h-9 flex-wrap items-center gap-2 rounded-md bg-panel px-3 py-1">
      {presence === "working" && isOwn ? (
        <AgentNow name={profile.name} />
      ) : (
        <>
          <PresenceDot presence={presence} isDecorative />
          <span className={presence === "working" ? "text-in-progress" : "text-amber"}>{WORDS[presence]}</span>
        </>
      )}
    </p>
  );
}
