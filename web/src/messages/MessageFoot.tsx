import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy } from "react";

import type { Message } from "../api/types";
import { StateBadge } from "../ui/StateBadge";
import { useIsWork } from "./work";

const ReactionBar = lazy(() => import("./ReactionBar"));
const LapsedApprovals = lazy(() => import("./LapsedApprovals"));

export interface FootProps {
  message: Message;
  me: string | undefined;
  onThread?: (id: number) => void;
}

/** Below a message: its state and who brought it there, what waits to be decided, and the way to its answers. */
export function MessageFoot(props: FootProps) {
  const { message, onThread } = props;
  const count = message.reply_count;
  const isWork = useIsWork(message);
  const hasLapsed = (message.lapsed_approvals?.length ?? 0) > 0 && !message.deleted_at;
  if (!isWork && !hasLapsed && count === 0) return null;
  return (
    <div className="mt-1 flex min-h-6 flex-wrap items-center gap-2">
      {isWork ? (
        <Suspense fallback={<StateBadge state={message.workflow_state} />}>
          <ReactionBar {...props} />
        </Suspense>
      ) : null}
      {hasLapsed ? (
        <Suspense>
          <LapsedApprovals message={message} me={props.me} />
        </Suspense>
      ) : null}
      {count > 0 ? (
        <ThreadLink message={message} onThread={onThread}>
          {count} {count === 1 ? "reply" : "replies"}
        </ThreadLink>
      ) : null}
    </div>
  );
}

/** Leads to the answers to a message, beside it or in its channel. */
export function ThreadLink({ message, onThread, children }: { message: Message; onThread?: (id: number) => void; children: ReactNode }) {
  const look = "inline-flex min-h-6 items-center text-sm text-accent hover:underline";
  if (onThread) {
    return (
      <button type="button" className={look} onClick={() => onThread(message.id)}>
        {children}
      </button>
    );
  }
  if (!message.channel) return <span className="text-sm text-muted">{children}</span>;
  return (
    <Link to="/channels/$name" params={{ name: message.channel }} search={{ thread: message.id }} className={look}>
      {children}
    </Link>
  );
}
