import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy } from "react";

import type { Message } from "../api/types";
import { useMe } from "../shell/me";
import { Badge } from "../ui/Badge";
import { StateBadge } from "../ui/StateBadge";
import { isAsking } from "./asked";
import { isWork } from "./work";

const ReactionBar = lazy(() => import("./ReactionBar"));
const DeliveryLines = lazy(() => import("../runs/DeliveryLines"));
const LapsedApprovals = lazy(() => import("./LapsedApprovals"));

export interface FootProps {
  message: Message;
  me: string | undefined;
  onThread?: (id: number) => void;
}

/** Below a message: what agents do about it, its state and who brought it there, what waits to be decided, and the way to its answers. */
export function MessageFoot(props: FootProps) {
  const { message, onThread } = props;
  const me = useMe();
  const count = message.reply_count;
  const isAsked = isAsking(message, me);
  // In a direct message, the line about the run says the same as the reactions of the agent.
  const isShownWork = isWork(message) && !(isAsked && !message.channel && message.reactions.every(({ from }) => from.kind === "agent"));
  // The state of work leads, and the same line says what the agents do about it. Two lines could contradict each other.
  const isOneLine = isAsked && isShownWork && Boolean(message.channel);
  const hasLapsed = (message.lapsed_approvals?.length ?? 0) > 0 && !message.deleted_at;
  return (
    <>
      {isAsked && !isOneLine ? (
        <Suspense>
          <DeliveryLines message={message} me={me!} />
        </Suspense>
      ) : null}
      {message.from.kind === "agent" && message.metadata["failed"] === true && !message.deleted_at ? (
        <p className="mt-1">
          <Badge colour="bad" icon="✕">
            Failed
          </Badge>
        </p>
      ) : null}
      {isShownWork || hasLapsed || count > 0 ? (
        <div className="mt-1 flex min-h-6 flex-wrap items-center gap-2">
          {isShownWork ? (
            <Suspense fallback={<StateBadge state={message.workflow_state!} />}>
              <ReactionBar {...props} message={message} asking={isOneLine ? me : undefined} />
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
      ) : null}
    </>
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
