import type { Message } from "../api/types";
import { Badge } from "../ui/Badge";
import type { LineProps } from "./DeliveryLine";
import { FailureReason } from "./FailureReason";
import { ResendButton } from "./ResendButton";
import { StatusBox, StatusLine } from "./StatusBox";
import { WithdrawButton } from "./WithdrawButton";
import { inboxStatus } from "./inboxStatus";
import { useIsFinished, useMentionCopy } from "./useDelivery";
import { useSecond } from "./useSecond";

const HOUR_MS = 3_600_000;

/** What became of a message that an agent reads by itself, or that an agent of somebody else got. */
export function InboxLine(props: LineProps) {
  return props.message.channel ? <MentionLine {...props} /> : <Line {...props} inInbox={props.message} />;
}

/** A mention is a direct message in the inbox of the agent. That one is waited for, worked on and done. */
function MentionLine(props: LineProps) {
  const inInbox = useMentionCopy(props.message, props.agent.name);
  return inInbox ? <Line {...props} inInbox={inInbox} /> : null;
}

function Line({ message, agent, isNamed, inInbox }: LineProps & { inInbox: Message }) {
  const isOpen = inInbox.status === "pending" || inInbox.status === "processing";
  const isYoung = Date.now() - Date.parse(inInbox.created_at) < HOUR_MS;
  const now = useSecond(isOpen && isYoung);
  const isFinished = useIsFinished(message);
  // Nobody waits for an agent that has not begun on finished work.
  if (inInbox.status === "pending" && isFinished) return null;
  const { word, span, icon, colour, hint } = inboxStatus(inInbox, agent, now);
  const head = (
    <Badge colour={colour} icon={icon}>
      {isNamed ? `@${agent.name}: ${word}` : word}{" "}
      {span ? <span className="font-normal">· {span}</span> : null}
    </Badge>
  );
  if (inInbox.status === "failed") {
    return (
      <StatusBox look="bad" head={head} buttons={<ResendButton message={message} />}>
        <FailureReason id={inInbox.id} agent={agent.name} />
      </StatusBox>
    );
  }
  return (
    <StatusLine>
      {head}
      {hint ? <span className="text-muted">{hint}</span> : null}
      {/* A mention is withdrawn where it was written. */}
      {isOpen && !message.channel && !message.metadata["mention"] ? <WithdrawButton message={message} /> : null}
    </StatusLine>
  );
}
