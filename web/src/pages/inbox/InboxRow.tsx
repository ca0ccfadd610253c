import { AtSign, CircleDot, Clock, ShieldQuestion } from "lucide-react";
import type { ReactNode } from "react";

import { fullName } from "../../lib/names";
import { lapsedWords } from "../../messages/lapsed";
import { listed, whoReacted } from "../../messages/reactions";
import { AvatarButton, NameButton } from "../../ui/ProfileButtons";
import { StateBadge } from "../../ui/StateBadge";
import { Time } from "../../ui/Time";
import { classes } from "../../ui/classes";
import { staleWords } from "../../workflow/ages";
import { claimantOf } from "../../workflow/moves";
import { isCutShort, restOf, titleOf } from "../../workflow/title";
import { isWork } from "../../messages/work";
import { MessageLink } from "./MessageLink";
import { TrustEffect } from "./TrustEffect";
import type { Item } from "./groups";

export type RowKind = "mentions" | "approvals" | "claimed" | "stale";

const ICONS: Record<RowKind, ReactNode> = {
  mentions: <AtSign size={16} className="text-accent" />,
  approvals: <ShieldQuestion size={16} className="text-muted" />,
  claimed: <CircleDot size={16} className="text-in-progress" />,
  stale: <Clock size={16} className="text-amber" />,
};

export const rowId = (kind: RowKind, id: number) => `row-${kind}-${id}`;

/** Who works on it, or who approved it. */
function noteOf({ message }: Item, self: string): string | undefined {
  const claimant = claimantOf(message);
  if (claimant) return `@${claimant.name}`;
  return message.workflow_state === "approved" ? `by ${listed(whoReacted(message, "approve", self))}` : undefined;
}

/** A message that waits for the person, with the actions that settle it. The open row shows more of it. */
export function InboxRow({ kind, item, isOpen, self, own, actions, onOpen }: {
  kind: RowKind;
  item: Item;
  isOpen: boolean;
  self: string;
  own: readonly string[];
  actions: ReactNode;
  onOpen: () => void;
}) {
  const { message, standing, channel } = item;
  const title = titleOf(message);
  const claimant = claimantOf(message);
  const who = kind === "claimed" && claimant ? claimant : message.from;
  const rest = restOf(message);
  // Its name does for the keyboard what the avatar does.
  const isNamed = kind === "mentions" || kind === "approvals";
  const name = isNamed ? <NameButton who={message.from}>{fullName(message.from)}</NameButton> : null;
  const lapsed = lapsedWords(message, self);
  return (
    <li
      id={rowId(kind, message.id)}
      onClick={onOpen}
      onFocus={(event) => {
        // Opening the row moves its buttons. Before a click is complete they must not move, so only keyboard focus opens it.
        if (event.target.matches(":focus-visible")) onOpen();
      }}
      className={classes(
        "relative flex flex-wrap items-start gap-x-3 overflow-clip gap-y-2 border-b border-line px-6 py-2.5 compact:py-1.5 max-md:px-4",
        isOpen && "bg-panel",
      )}
    >
      {isOpen ? <span aria-hidden="true" className="absolute inset-y-0 left-0 w-[3px] bg-accent" /> : null}
      <span aria-hidden="true" className="mt-1 max-sm:hidden">
        {ICONS[kind]}
      </span>
      <span className="mt-0.5">
        <AvatarButton who={who} tabIndex={isNamed ? -1 : undefined} />
      </span>
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex min-w-0 flex-wrap items-baseline gap-x-2 max-md:pr-14">
          {kind === "mentions" ? <span className="text-muted">{name}</span> : null}
          <MessageLink message={message} self={self} own={own} className="inbox-title min-h-6 min-w-0 font-semibold [overflow-wrap:anywhere] hover:underline">
            {title}
          </MessageLink>
          <span className="text-muted">{message.channel ? `#${message.channel}` : "direct message"}</span>
          {message.reply_to ? (
            <MessageLink
              message={message}
              thread={message.reply_to}
              self={self}
              own={own}
              aria-label={`in a thread: ${title}`}
              className="inline-flex min-h-6 items-center text-accent hover:underline"
            >
              in a thread
            </MessageLink>
          ) : null}
        </div>
        {isOpen && rest ? (
          <p className="mt-1 max-w-[80ch] overflow-clip border-l-2 border-line pl-3 [overflow-wrap:anywhere]">{rest}</p>
        ) : null}
        {isOpen && isCutShort(message) ? <p className="mt-1 text-sm text-amber">Part of this text is not shown.</p> : null}
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
          {kind === "mentions" || !isWork(message) ? null : <StateBadge state={message.workflow_state} note={noteOf(item, self)} isBare />}
          {kind === "approvals" ? <span>by {name}</span> : null}
          {lapsed ? <span className="text-amber">{lapsed}</span> : null}
          {kind === "stale" && !claimant ? <span>unclaimed</span> : null}
          {standing.isStale && channel ? (
            <span className="inline-flex items-center gap-1 text-amber">
              <Clock size={13} aria-hidden="true" />
              {staleWords(standing, channel)}
            </span>
          ) : null}
          {isOpen && kind === "approvals" ? <TrustEffect message={message} /> : null}
        </div>
      </div>
      <div className="flex max-w-full flex-wrap items-center gap-2 max-md:w-full max-md:pl-15 max-sm:pl-8">
        {actions}
        <MessageLink
          message={message}
          self={self}
          own={own}
          aria-label={`Open: ${title}`}
          className="inline-flex h-7 items-center px-2 text-muted hover:text-fg max-sm:hidden pointer-coarse:h-11"
        >
          Open
        </MessageLink>
      </div>
      <span className="w-14 shrink-0 pt-0.5 text-right text-sm max-md:absolute max-md:top-2.5 max-md:right-4 max-md:w-auto">
        <Time at={kind === "mentions" ? message.created_at : standing.since} as="age" />
      </span>
    </li>
  );
}
