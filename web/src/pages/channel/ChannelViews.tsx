import { Link } from "@tanstack/react-router";
import { MessagesSquare, SquareKanban } from "lucide-react";

const VIEW =
  "inline-flex h-7 items-center gap-1.5 px-2.5 text-muted hover:text-fg pointer-coarse:h-11 " +
  "aria-[current=page]:bg-bg aria-[current=page]:font-medium aria-[current=page]:text-fg " +
  // A phone has room for one of them, which is then a button like those beside it.
  "max-sm:w-7 max-sm:justify-center max-sm:rounded-md max-sm:border-l-0 max-sm:px-0 max-sm:hover:bg-panel max-sm:aria-[current=page]:hidden max-sm:pointer-coarse:w-11";
const ICON = "size-3.5 max-sm:size-4";

/** What is said in a channel, and what is to be done there. */
export function ChannelViews({ name }: { name: string }) {
  return (
    <nav aria-label="Views of the channel" className="inline-flex overflow-hidden rounded-md border border-line bg-panel max-sm:border-0 max-sm:bg-transparent">
      <Link to="/channels/$name" params={{ name }} activeOptions={{ exact: true, includeSearch: false }} className={VIEW}>
        <MessagesSquare aria-hidden="true" className={ICON} />
        <span className="max-sm:sr-only">Messages</span>
      </Link>
      <Link to="/channels/$name/board" params={{ name }} className={`${VIEW} border-l border-line`}>
        <SquareKanban aria-hidden="true" className={ICON} />
        <span className="max-sm:sr-only">Board</span>
      </Link>
    </nav>
  );
}
