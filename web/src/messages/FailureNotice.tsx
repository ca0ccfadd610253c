import type { Message } from "../api/types";
import { fullName } from "../lib/names";
import { Time } from "../ui/Time";
import { classes } from "../ui/classes";
import { Markdown } from "./Markdown";
import { MessageMenu } from "./MessageMenu";
import { showSource } from "./source";

interface FailureNoticeProps {
  message: Message;
  isHighlighted: boolean;
  onThread?: (id: number) => void;
}

/** A reply that only says why a message failed, as a quiet line: the box at that message has the reason. The whole reply opens below it. */
export default function FailureNotice({ message, isHighlighted, onThread }: FailureNoticeProps) {
  return (
    <article
      id={`m${message.id}`}
      data-message={message.id}
      tabIndex={-1}
      aria-label={`${fullName(message.from)}, message ${message.id}`}
      className={classes("group relative flex gap-3 px-6 py-1 max-md:px-4", isHighlighted && "bg-selected")}
    >
      <span className="w-8 shrink-0" />
      <details className="min-w-0 flex-1 overflow-clip pr-5 max-md:pr-6">
        <summary className="min-h-6 cursor-pointer list-none text-sm text-muted hover:text-fg pointer-coarse:min-h-11">
          @{message.from.name} reported the failure above. <span className="underline">Show reply</span> <Time at={message.created_at} as="clock" />
        </summary>
        <Markdown text={message.body} onSource={() => showSource(message)} />
      </details>
      <div className="absolute top-0.5 right-4 pointer-coarse:right-1">
        <MessageMenu message={message} onThread={onThread} />
      </div>
    </article>
  );
}
