import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Delivery, isActive, runsQuery } from "../api/runs";
import type { Message } from "../api/types";
import { Badge } from "../ui/Badge";
import { InboxLine } from "./InboxLine";
import { RunLine } from "./RunLine";
import { StatusLine } from "./StatusBox";
import { WithdrawButton } from "./WithdrawButton";
import type { AskedAgent } from "./askedAgents";
import { useDelivery, useIsFinished, useRunOf } from "./useDelivery";
import { useSecond } from "./useSecond";
import { againWords, notStartedWords, restEnd, restWords, spanWords } from "./words";

export interface LineProps {
  message: Message;
  agent: AskedAgent;
  isNamed: boolean;
}

/** What a message has started for an agent that the hub may run. */
export function DeliveryLine(props: LineProps) {
  const { message, agent, isNamed } = props;
  const { isLoading, item } = useDelivery(message, agent);
  const isFinished = useIsFinished(message);
  if (isLoading) return null;
  // Nothing was started by the hub, or it is long ago. Then the message itself says what became of it.
  if (!item) return <InboxLine {...props} />;
  if (item.state === "woken" && item.run_id) return <LineOfRun id={item.run_id} agent={agent.name} name={isNamed ? agent.name : undefined} />;
  if (isFinished) return null;
  return item.state === "not_woken" ? <NotStarted {...props} item={item} /> : <Waiting {...props} item={item} />;
}

function NotStarted({ message, agent, isNamed, item }: LineProps & { item: Delivery }) {
  return (
    <StatusLine>
      <Badge colour="warning" icon="!">
        {isNamed ? `@${agent.name}: not started` : "Not started"}
      </Badge>
      <span className="text-muted">{notStartedWords(item.reason, agent.own !== undefined)}</span>
      {item.reason === "acting_off" && agent.own ? (
        <Link to="/automation" className="inline-flex min-h-6 items-center text-accent hover:underline">
          Details
        </Link>
      ) : null}
      {/* A mention is withdrawn where it was written. */}
      {message.channel || message.metadata["mention"] ? null : <WithdrawButton message={message} />}
    </StatusLine>
  );
}

function Waiting({ message, agent, isNamed, item }: LineProps & { item: Delivery }) {
  const now = useSecond(true);
  const why = useWaitingWords(agent, item, now);
  return (
    <StatusLine>
      <Badge icon="○">
        {isNamed ? `@${agent.name}: waiting` : "Waiting"} <span className="font-normal">· {spanWords(now - Date.parse(message.created_at))}</span>
      </Badge>
      <span className="text-muted">{why}</span>
      <WithdrawButton message={message} />
    </StatusLine>
  );
}

/** What a message waits for. More is known of the person's own agents: only their runs are shown. */
function useWaitingWords({ name, displayName, own }: AskedAgent, { reason }: Delivery, now: number): string {
  const isWanted = own !== undefined && (reason === "sequential" || reason === "cooldown");
  const runs = useQuery({ ...runsQuery({ agent: name }), enabled: isWanted, staleTime: Number.POSITIVE_INFINITY }).data?.items ?? [];
  const run = runs.find(isActive);
  if (isWanted && reason === "sequential" && run?.status === "deferred") return `Run ${run.id} covers this message, too. ${againWords(run, now)}.`;
  if (isWanted && reason === "sequential" && run) return `${displayName} starts when run ${run.id} ends.`;
  const end = isWanted && reason === "cooldown" ? restEnd(runs, own.cooldown_seconds) : undefined;
  return end === undefined ? notStartedWords(reason, own !== undefined) : restWords(end - now);
}

function LineOfRun({ id, agent, name }: { id: number; agent: string; name?: string }) {
  const run = useRunOf(agent, id);
  return run ? <RunLine run={run} name={name} /> : null;
}
