import { useQuery } from "@tanstack/react-query";

import { conversationQuery, repliesQuery } from "../api/queries";
import type { Message } from "../api/types";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { Badge } from "../ui/Badge";
import type { LineProps } from "./DeliveryLine";
import { ResendButton } from "./ResendButton";
import { StatusBox, StatusLine } from "./StatusBox";
import { WithdrawButton } from "./WithdrawButton";
import { inboxStatus } from "./inboxStatus";
import { useSecond } from "./useSecond";

const HOUR_MS = 3_600_000;

/** What became of a message that an agent reads by itself, or that an agent of somebody else got. */
export function InboxLine(props: LineProps) {
  return props.message.channel ? <MentionLine {...props} /> : <Line {...props} inInbox={props.message} />;
}

/** A mention is a direct message in the inbox of the agent. That one is waited for, claimed and done. */
function MentionLine(props: LineProps) {
  const { message, agent } = props;
  const told = (one: Message) => (one.metadata["mention"] as { message_id?: number } | undefined)?.message_id === message.id;
  const inInbox = useQuery(conversationQuery({ kind: "dm", name: agent.name })).data?.items.find(told);
  return inInbox ? <Line {...props} inInbox={inInbox} /> : null;
}

function Line({ message, agent, isNamed, inInbox }: LineProps & { inInbox: Message }) {
  const isOpen = inInbox.status === "pending" || inInbox.status === "processing";
  const isYoung = Date.now() - Date.parse(inInbox.created_at) < HOUR_MS;
  const now = useSecond(isOpen && isYoung);
  const { word, span, icon, colour, hint } = inboxStatus(inInbox, agent, now);
  const isClaimed = inInbox.status === "processing";
  const head = (
    <Badge colour={colour} icon={icon}>
      {isNamed && !isClaimed ? `@${agent.name}: ${word}` : word}{" "}
      {span ? <span className="font-normal">· {span}</span> : null}
    </Badge>
  );
  if (inInbox.status === "failed") {
    return (
      <StatusBox look="bad" head={head} buttons={<ResendButton message={message} />}>
        <Reason id={inInbox.id} agent={agent.name} />
      </StatusBox>
    );
  }
  return (
    <StatusLine>
      {head}
      {hint ? <span className="text-muted">{hint}</span> : null}
      {inInbox.status === "pending" && !message.channel ? <WithdrawButton message={message} /> : null}
    </StatusLine>
  );
}

/** Why the agent could not do it: it says so in a reply that it marks as failed. */
function Reason({ id, agent }: { id: number; agent: string }) {
  const replies = useQuery(repliesQuery(id)).data;
  const reply = replies?.findLast(({ from, metadata }) => from.name === agent && metadata["failed"] === true);
  if (!replies) return null;
  return reply?.body ? <Shown text={reply.body} most={MOST_OF_LINE} title="Full reason" /> : "The agent gives no reason.";
}
