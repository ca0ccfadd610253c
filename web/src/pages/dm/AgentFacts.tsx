import { useQuery } from "@tanstack/react-query";
import { CirclePause, ShieldAlert } from "lucide-react";

import { api, ok } from "../../api/client";
import { isActive, runsQuery } from "../../api/runs";
import type { Agent } from "../../api/types";
import { RunLink } from "../../runs/RunLink";
import { againWords } from "../../runs/words";
import { Badge } from "../../ui/Badge";
import { programOf } from "./program";
import { useIsWorking } from "./useIsWorking";

/** The event stream does not report the presence of everybody. */
const REFRESHED_MS = 15_000;

interface AgentFactsProps {
  name: string;
  own?: Agent;
  /** Whether the title is already the handle. */
  isNamed: boolean;
}

/** Beside the name of an agent: its handle, what it does now, whose it is, and what it runs with. */
export default function AgentFacts({ name, own, isNamed }: AgentFactsProps) {
  const program = own ? programOf(own) : undefined;
  return (
    <span className="inline-flex max-w-full items-center gap-x-3 align-bottom max-md:flex-wrap">
      <span>{isNamed ? "agent" : `@${name} · agent`}</span>
      {own ? <AgentState agent={own} /> : <OthersFacts name={name} />}
      {own ? <span className="max-sm:hidden">Owned by you</span> : null}
      {program ? <span className="truncate max-lg:hidden">{program}</span> : null}
    </span>
  );
}

/** What everybody may know of an agent: whether it works, and whose it is. */
function OthersFacts({ name }: { name: string }) {
  const profile = useQuery({
    queryKey: ["profile", name],
    queryFn: () => ok(api.GET("/api/directory/{name}", { params: { path: { name } } })),
    staleTime: REFRESHED_MS,
    refetchInterval: ({ state }) => (state.status === "error" ? false : REFRESHED_MS),
  }).data;
  return (
    <>
      {profile?.presence === "working" ? <WorkingBadge /> : null}
      {profile?.presence === "paused" ? <PausedBadge /> : null}
      {profile?.owner ? <span className="max-sm:hidden">Owned by @{profile.owner}</span> : null}
    </>
  );
}

function WorkingBadge() {
  return (
    <Badge colour="busy" icon="◐">
      Working
    </Badge>
  );
}

function PausedBadge() {
  return (
    <Badge colour="warning" icon={<CirclePause size={12} />}>
      Paused
    </Badge>
  );
}

/** What an agent does now, as picture and word. */
function AgentState({ agent }: { agent: Agent }) {
  const isRunnable = agent.trigger_mode !== "passive";
  const run = useQuery({ ...runsQuery({ agent: agent.name }), enabled: isRunnable }).data?.items.find(isActive);
  const isWorking = useIsWorking(agent);
  if (run?.status === "running") {
    return (
      <span className="inline-flex items-center gap-1.5">
        <WorkingBadge />
        <RunLink id={run.id} />
      </span>
    );
  }
  if (run?.status === "deferred") {
    return (
      <span className="inline-flex items-center gap-1.5">
        <Badge colour="warning" icon="◷">
          {againWords(run)}
        </Badge>
        {/* On a phone there is no room for it, and the message has it too. */}
        <span className="max-md:hidden">
          <RunLink id={run.id} />
        </span>
      </span>
    );
  }
  if (agent.quarantined_at) {
    return (
      <Badge colour="bad" icon={<ShieldAlert size={12} />}>
        Quarantined
      </Badge>
    );
  }
  if (agent.paused_at) return <PausedBadge />;
  if (isWorking) return <WorkingBadge />;
  return isRunnable ? (
    <Badge colour="good" icon="●">
      Ready
    </Badge>
  ) : null;
}
