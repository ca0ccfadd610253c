import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Paperclip } from "lucide-react";
import { memo } from "react";

import { meQuery } from "../api/queries";
import type { Message } from "../api/types";
import { Avatar } from "../ui/Avatar";
import { StateBadge } from "../ui/StateBadge";
import { Time } from "../ui/Time";
import { classes } from "../ui/classes";
import { Markdown } from "./Markdown";
import { MessageMenu } from "./MessageMenu";

/** Whether a message stands for work, and so has a state to show. */
export function isWork(message: Message): boolean {
  return message.workflow_state !== "proposed" || (message.from.kind === "agent" && "action_type" in message.metadata);
}

interface MessageRowProps {
  message: Message;
  /** Written by the same one just after the message above it. */
  isContinued?: boolean;
  isHighlighted?: boolean;
  onThread?: (id: number) => void;
}

export const MessageRow = memo(function MessageRow({ message, isContinued, isHighlighted, onThread }: MessageRowProps) {
  const me = useQuery(meQuery).data?.user;
  const isMention = me !== undefined && message.mentions.some((name) => name === me.username);
  const isClaimed = message.workflow_state === "in_progress";
  return (
    <article
      id={`m${message.id}`}
      aria-label={`${message.from.display_name || message.from.name}, message ${message.id}`}
      className={classes(
        "group relative flex gap-3 px-6 py-2 compact:py-1",
        isContinued && "pt-0",
        (isHighlighted || isMention) && "bg-selected",
      )}
    >
      {isClaimed || isMention ? (
        <span
          aria-hidden="true"
          className={classes("absolute inset-y-0 left-0 w-[3px]", isClaimed ? "bg-in-progress" : "bg-accent")}
        />
      ) : null}
      <div className="w-8 shrink-0">
        {isContinued ? null : (
          <Avatar name={message.from.name} kind={message.from.kind} displayName={message.from.display_name} />
        )}
      </div>
      <div className="min-w-0 flex-1">
        {isContinued ? null : (
          <div className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-semibold">{message.from.display_name || message.from.name}</span>
            {message.from.kind === "user" ? null : <span className="text-muted">{message.from.kind}</span>}
            <Time at={message.created_at} as="clock" />
            {message.subject ? <span className="font-medium">{message.subject}</span> : null}
          </div>
        )}
        {message.deleted_at ? (
          <p className="text-muted italic">This message was deleted.</p>
        ) : (
          <>
            <Markdown text={message.body} className={message.workflow_state === "done" ? "text-muted" : undefined} />
            {message.edited_at ? <span className="text-xs text-muted">edited</span> : null}
          </>
        )}
        <MessageFoot message={message} onThread={onThread} />
      </div>
      {message.deleted_at ? null : (
        <div className="absolute top-1 right-4">
          <MessageMenu message={message} onThread={onThread} />
        </div>
      )}
    </article>
  );
});

function MessageFoot({ message, onThread }: { message: Message; onThread?: (id: number) => void }) {
  const hasState = isWork(message);
  const count = message.attachments.length;
  if (!hasState && message.reply_count === 0 && count === 0) return null;
  const replies = `${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`;
  return (
    <div className="mt-1 flex flex-wrap items-center gap-2">
      {hasState ? <StateBadge state={message.workflow_state} /> : null}
      {count > 0 ? (
        <span className="inline-flex items-center gap-1 text-sm text-muted">
          <Paperclip size={14} aria-hidden="true" />
          {count}
        </span>
      ) : null}
      {message.reply_count > 0 ? (
        onThread ? (
          <button type="button" className="text-sm text-accent hover:underline" onClick={() => onThread(message.id)}>
            {replies}
          </button>
        ) : message.channel ? (
          <Link
            to="/channels/$name"
            params={{ name: message.channel }}
            search={{ thread: message.id }}
            className="text-sm text-accent hover:underline"
          >
            {replies}
          </Link>
        ) : (
          <span className="text-sm text-muted">{replies}</span>
        )
      ) : null}
    </div>
  );
}
