import { Link } from "@tanstack/react-router";
import { CornerLeftUp } from "lucide-react";
import { Suspense, lazy, memo, useCallback } from "react";

import type { Message } from "../api/types";
import { fullName } from "../lib/names";
import { useMe } from "../shell/me";
import { AuthorName, hasProfile } from "../ui/AuthorName";
import { Avatar } from "../ui/Avatar";
import { Shown } from "../ui/Shown";
import { Time } from "../ui/Time";
import { classes } from "../ui/classes";
import { answerWords } from "../workflow/title";
import { Attachments } from "./Attachments";
import { Markdown } from "./Markdown";
import { MessageFoot } from "./MessageFoot";
import { MessageMenu } from "./MessageMenu";
import { showSource } from "./source";

const NoticeLink = lazy(() => import("./NoticeLink"));

interface MessageRowProps {
  message: Message;
  /** Written by the same one just after the message above it. */
  isContinued?: boolean;
  isHighlighted?: boolean;
  /** What it answers, if that is at hand. */
  parent?: Message;
  onThread?: (id: number) => void;
}

export const MessageRow = memo(function MessageRow({ message, isContinued, isHighlighted, parent, onThread }: MessageRowProps) {
  const me = useMe()?.user;
  // The hub's own word: what callers send cannot have it.
  const mention = message.metadata["mention"] as { channel: string; message_id: number } | undefined;
  const isMention = me !== undefined && message.mentions.some((name) => name === me.username);
  const isClaimed = message.workflow_state === "in_progress";
  // Close to the message above it, of whose turn it is.
  const isBare = isContinued && !isHighlighted && !isMention;
  const onSource = useCallback(() => showSource(message), [message]);
  return (
    <article
      id={`m${message.id}`}
      data-message={message.id}
      tabIndex={-1}
      aria-label={`${fullName(message.from)}, message ${message.id}`}
      className={classes(
        "group relative flex gap-3 px-6 py-2 max-md:px-4 compact:py-1",
        isBare && "pt-0 compact:pt-0",
        isHighlighted ? "bg-selected" : isMention && "bg-selected/50",
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
          // The name beside it does the same for the keyboard.
          <span data-profile={hasProfile(message.from) ? message.from.name : undefined} className="block size-8 data-profile:cursor-pointer">
            <Avatar name={message.from.name} kind={message.from.kind} displayName={message.from.display_name} />
          </span>
        )}
      </div>
      {/* Text ends before the menu, also where there is little room, and never reaches over the next message. */}
      <div className="-mt-1 min-w-0 flex-1 overflow-clip pt-1 pr-5 max-md:pr-6 pointer-coarse:-mt-2 pointer-coarse:pt-2">
        {isContinued ? null : (
          <div className="flex flex-wrap items-baseline gap-x-2">
            <AuthorName from={message.from} />
            <Time at={message.created_at} as="clock" />
          </div>
        )}
        {/* Within the thread itself, nobody needs to be told. Of a mention, it is told where it was said. */}
        {message.reply_to && onThread && !mention ? (
          <button
            type="button"
            className="flex min-h-6 max-w-full items-center gap-1 text-sm text-muted hover:text-fg hover:underline"
            onClick={() => onThread(message.reply_to!)}
          >
            <CornerLeftUp size={13} aria-hidden="true" className="shrink-0" />
            <span className="truncate">{answerWords(parent)}</span>
          </button>
        ) : null}
        {mention?.channel ? (
          <p className="text-sm text-muted">
            Mentioned in{" "}
            <Link to="/channels/$name" params={{ name: mention.channel }} search={{ at: mention.message_id }} className="text-accent underline">
              #{mention.channel}
            </Link>
          </p>
        ) : null}
        {message.subject ? (
          <p className="max-w-[80ch] overflow-clip font-semibold [overflow-wrap:anywhere] [unicode-bidi:plaintext]">
            <Shown text={message.subject} title="Full subject" />
          </p>
        ) : null}
        {message.deleted_at ? (
          <p className="text-muted italic">This message was deleted.</p>
        ) : (
          <>
            {message.body ? (
              <Markdown text={message.body} onSource={onSource} className={message.workflow_state === "done" ? "text-muted" : undefined} />
            ) : null}
            {message.edited_at ? <span className="text-xs text-muted">edited</span> : null}
            <Attachments files={message.attachments} />
          </>
        )}
        {message.from.kind === "system" ? (
          <Suspense>
            <NoticeLink notice={message} />
          </Suspense>
        ) : null}
        <MessageFoot message={message} me={me?.username} onThread={onThread} />
      </div>
      {message.deleted_at ? null : (
        <div
          className={classes(
            "absolute right-4 pointer-coarse:right-1",
            isBare ? "-top-0.5 pointer-coarse:-top-3" : "top-1.5 compact:top-0.5 pointer-coarse:-top-1 compact:pointer-coarse:-top-2",
          )}
        >
          <MessageMenu message={message} onThread={onThread} />
        </div>
      )}
    </article>
  );
});
