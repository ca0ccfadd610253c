import { useQuery } from "@tanstack/react-query";

import { repliesQuery } from "../api/queries";
import { briefOf } from "../lib/cut";
import { spelled } from "../lib/hidden";
import { Button } from "../ui/Button";
import { type FootProps, ThreadLink } from "./MessageFoot";
import { hasReacted, reasonOf } from "./reactions";

/** So much of a reason is shown, in plain characters. All of it is in the thread. */
const MOST_OF_REASON = 200;

/** Why it was rejected, if whoever did so has answered; if it was oneself, the way to say so. */
export function RejectReason({ message, me, onThread }: FootProps) {
  const replies = useQuery({ ...repliesQuery(message.id), enabled: message.reply_count > 0 });
  // In its thread the answers are there to read, and none are counted.
  const reason = message.reply_count > 0 ? reasonOf(message, replies.data ?? []) : undefined;
  if (reason) {
    return (
      <ThreadLink message={message} onThread={onThread}>
        <span className="inline-block max-w-[40ch] truncate align-bottom">Reason: {spelled(briefOf(reason.body, MOST_OF_REASON)) || "see the reply"}</span>
      </ThreadLink>
    );
  }
  return onThread && hasReacted(message, "reject", me) && (message.reply_count === 0 || replies.data) ? (
    <Button size="row" look="plain" onClick={() => onThread(message.id)}>
      Add reason
    </Button>
  ) : null;
}
