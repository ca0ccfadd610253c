import { Suspense, lazy } from "react";

import type { Message } from "../api/types";
import { useStore } from "../lib/store";
import { dayAndTime, dayName } from "../lib/time";
import { useMe } from "../shell/me";
import type { MessageListProps } from "./MessageList";
import { MessageRow } from "./MessageRow";
import { OutgoingRow } from "./OutgoingRow";
import { editing } from "./editing";
import { isFailureNotice } from "./failureNotice";
import type { Row } from "./rows";

const FailureNotice = lazy(() => import("./FailureNotice"));
const MessageEditor = lazy(() => import("./MessageEditor"));

interface ConversationRowProps extends MessageListProps {
  row: Row;
  known: ReadonlyMap<number, Message>;
  isPart: boolean;
}

/** A message, a message that is being sent, or a divider. */
export function ConversationRow({ row, known, isPart, place, at, onThread }: ConversationRowProps) {
  const edited = useStore(editing);
  const me = useMe()?.user.username;
  switch (row.kind) {
    case "day":
      return (
        <div className="flex items-center gap-3 px-6 py-2 text-sm text-muted max-md:px-4">
          <span className="h-px flex-1 bg-line" />
          {dayName(row.at)}
          <span className="h-px flex-1 bg-line" />
        </div>
      );
    case "unread":
      return (
        <div className="flex items-center gap-3 px-6 py-1 text-sm text-accent max-md:px-4" role="separator">
          <span className="h-px flex-1 bg-accent" />
          <span className="text-end">
            New since {dayAndTime(row.since)} · {row.count}
            {isPart ? "+" : ""}
            {/* A phone has no room for the unit. */}
            <span className="max-sm:hidden"> {row.count === 1 ? "message" : "messages"}</span>
          </span>
        </div>
      );
    case "message": {
      const { message, isContinued } = row;
      const parent = message.reply_to ? known.get(message.reply_to) : undefined;
      if (edited === message.id) {
        return (
          <Suspense>
            <MessageEditor message={message} />
          </Suspense>
        );
      }
      if (isFailureNotice(message, parent, me)) {
        return (
          <Suspense>
            <FailureNotice message={message} isHighlighted={message.id === at} onThread={onThread} />
          </Suspense>
        );
      }
      return <MessageRow message={message} isContinued={isContinued} isHighlighted={message.id === at} parent={parent} onThread={onThread} />;
    }
    case "outgoing":
      return <OutgoingRow outgoing={row.outgoing} place={place} />;
  }
}
