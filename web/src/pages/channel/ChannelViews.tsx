import { Link } from "@tanstack/react-router";
import { MessagesSquare, SquareKanban } from "lucide-react";

const VIEW =
  "inline-flex h-7 items-center gap-1.5 px-2.5 text-muted hover:text-fg pointer-coarse:h-11 " +
  "aria-[current=page]:bg-bg aria-[current=page]:font-medium aria-[current=page]:text-fg " +
  // A phone has room for one of them.
  "max-sm:border-l-0 max-sm:aria-[current=page]:hidden";

/** What is said in a channel, and what is to be done there. */
export function ChannelViews({ name }: { name: string }) {
  return (
    <nav aria-label="Views of the channel" className="inline-flex overflow-hidden rounded-md border border-line bg-panel">
      <Link to="/channels/$name" params={{ name }} activeOptions={{ exact: true, includeSearch: false }} className={VIEW}>
        <MessagesSquare size={14} aria-hidden="true" />
        <span className="max-sm:sr-only">Messages</span>
      </Link>
      <Link to="/channels/$name/board" params={{ name }} className={`${VIEW} border-l border-line`}>
        <SquareKanban size={14} aria-hidden="true" />
        <span className="max-sm:sr-only">Board</span>
      </Link>
    </nav>
  );
}
