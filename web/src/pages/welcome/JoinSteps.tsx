import { useQuery } from "@tanstack/react-query";

import { AgentGone } from "../../agents/AgentGone";
import { agentQuery } from "../../api/agents";
import { Problem } from "../../api/problem";
import { Failed, Skeleton } from "../../ui/States";
import { NotFound } from "../NotFound";
import { ConnectStep } from "./ConnectStep";
import { MessageStep } from "./MessageStep";
import { WelcomeFrame } from "./WelcomeFrame";
import { hasCommand } from "./ways";

/** The steps after the agent exists. The person can leave them and come back. */
export function JoinSteps({ name, step }: { name: string; step: "connect" | "message" }) {
  const agent = useQuery(agentQuery(name));
  if (agent.error instanceof Problem && agent.error.status === 404) return agent.data ? <AgentGone name={name} /> : <NotFound />;
  const known = agent.data?.agent;
  const isReady = known !== undefined && (hasCommand(known) || Boolean(known.last_seen_at));
  const notes = { name, archetype: known?.archetype, connect: known === undefined ? "" : hasCommand(known) ? "by a command" : isReady ? "connected" : "not connected yet" };
  return (
    <WelcomeFrame at={step} notes={notes} open={isReady ? undefined : "connect"}>
      {agent.isError ? <Failed error={agent.error} retry={() => void agent.refetch()} /> : null}
      {agent.data === undefined && !agent.isError ? <Skeleton /> : null}
      {agent.data ? step === "connect" ? <ConnectStep agent={agent.data.agent} /> : <MessageStep agent={agent.data.agent} /> : null}
    </WelcomeFrame>
  );
}
