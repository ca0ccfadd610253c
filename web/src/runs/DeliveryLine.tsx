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
import { useDelivery, useRunOf } from "./useDelivery";
import { useSecond } from "./useSecond";
import { notStartedWords, spanWords } from "./words";

export interface LineProps {
  message: Message;
  agent: AskedAgent;
  isNamed: boolean;
}

/** What a message has started for an agent of the person that the hub runs. */
export function DeliveryLine(props: LineProps) {
  const { message, agent, isNamed } = props;
  const { isLoading, item } = useDelivery(message, agent);
  if (isLoading) return null;
  // Nothing was started by the hub, or it is long ago. Then the message itself says what became of it.
  if (!item) return <InboxLine {...props} />;
  if (item.state === "woken" && item.run_id) return <LineOfRun id={item.run_id} agent={agent.name} name={isNamed ? agent.name : undefined} />;
  return item.state === "not_woken" ? <NotStarted {...props} item={item} /> : <Waiting {...props} item={item} />;
}

function NotStarted({ agent, isNamed, item }: LineProps & { item: Delivery }) {
  return (
    <StatusLine>
      <Badge colour="warning" icon="!">
        {isNamed ? `@${agent.name}: not started` : "Not started"}
      </Badge>
      <span className="text-muted">{notStartedWords(item.reason)}</span>
      {item.reason === "acting_off" ? (
        <Link to="/automation" className="inline-flex min-h-6 items-center text-accent hover:underline">
          Details
        </Link>
      ) : null}
    </StatusLine>
  );
}

function Waiting({ message, agent, isNamed, item }: LineProps & { item: Delivery }) {
  const now = useSecond(true);
  const isBusy = item.reason === "sequential";
  const run = useQuery({ ...runsQuery({ agent: agent.name }), enabled: isBusy, staleTime: Number.POSITIVE_INFINITY }).data?.items.find(isActive);
  return (
    <StatusLine>
      <Badge icon="○">
        {isNamed ? `@${agent.name}: waiting` : "Waiting"} <span className="font-normal">· {spanWords(now - Date.parse(message.created_at))}</span>
      </Badge>
      <span className="text-muted">
        {isBusy && run ? `${agent.displayName} starts when run ${run.id} ends.` : notStartedWords(item.reason)}
      </span>
      <WithdrawButton message={message} />
    </StatusLine>
  );
}

function LineOfRun({ id, agent, name }: { id: number; agent: string; name?: string }) {
  const run = useRunOf(agent, id);
  return run ? <RunLine run={run} name={name} /> : null;
}
