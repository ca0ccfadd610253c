import { Link } from "@tanstack/react-router";
import { Check, Clock, Ellipsis, MessagesSquare } from "lucide-react";
import { memo } from "react";

import { lapsedWords } from "../../messages/lapsed";
import { useMe } from "../../shell/me";
import { AvatarButton, NameButton } from "../../ui/ProfileButtons";
import { Time } from "../../ui/Time";
import { stateWord } from "../../ui/StateBadge";
import { classes } from "../../ui/classes";
import { staleWords } from "../../workflow/ages";
import { approversOf, claimantOf } from "../../workflow/moves";
import { titleOf } from "../../workflow/title";
import type { Card } from "./useColumns";

export const cardId = (id: number) => `card-${id}`;

interface BoardCardProps {
  card: Card;
  /** Whether the keyboard stops here when it comes to the board. */
  isCurrent: boolean;
  isMenuOpen: boolean;
  hasChannel: boolean;
  onMenu: (id: number, button: HTMLElement) => void;
  onCurrent: (id: number) => void;
  onDrag: (card: Card | null) => void;
}

/** A piece of work: what, who, since when. */
export const BoardCard = memo(function BoardCard({ card, isCurrent, isMenuOpen, hasChannel, onMenu, onCurrent, onDrag }: BoardCardProps) {
  const { message, standing, channel } = card;
  const { id } = message;
  // Only work is on a board.
  const state = message.workflow_state ?? "proposed";
  const title = titleOf(message);
  const claimant = claimantOf(message);
  const who = state === "in_progress" && claimant ? claimant : message.from;
  const approvers = approversOf(message);
  const lapsed = lapsedWords(message, useMe()?.user.username);
  const isSettled = state === "done" || state === "rejected";
  return (
    <li>
      <article
        id={cardId(id)}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={`${title}, ${stateWord(state)}`}
        draggable
        onFocus={() => onCurrent(id)}
        onDragStart={(event) => {
          event.dataTransfer.setData("text/plain", title);
          event.dataTransfer.effectAllowed = "move";
          onDrag(card);
        }}
        onDragEnd={() => onDrag(null)}
        className={classes(
          "relative flex cursor-grab flex-col gap-1 overflow-hidden rounded-md border border-line bg-bg p-2.5",
          isMenuOpen && "border-accent",
        )}
      >
        {state === "in_progress" ? <span aria-hidden="true" className="absolute inset-y-0 left-0 w-[3px] bg-in-progress" /> : null}
        <div className="flex items-start gap-1">
          <Link
            to="/channels/$name"
            params={{ name: message.channel ?? "" }}
            search={{ at: message.id }}
            tabIndex={isCurrent ? 0 : -1}
            draggable={false}
            className={classes("line-clamp-3 min-w-0 flex-1 font-medium break-words hover:underline", isSettled && "font-normal text-muted")}
          >
            {title}
          </Link>
          <button
            type="button"
            aria-label={`Move: ${title}`}
            title="Move"
            aria-haspopup="menu"
            aria-expanded={isMenuOpen}
            tabIndex={isCurrent ? 0 : -1}
            onClick={(event) => onMenu(id, event.currentTarget)}
            className="-mt-1 -mr-1.5 inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:bg-panel hover:text-fg pointer-coarse:-mt-3 pointer-coarse:-mr-2.5 pointer-coarse:-mb-3 pointer-coarse:size-11"
          >
            <Ellipsis size={16} aria-hidden="true" />
          </button>
        </div>
        <div className="flex min-w-0 items-center gap-1.5 text-sm text-muted">
          <AvatarButton who={who} tabIndex={-1} />
          <NameButton who={who} tabIndex={isCurrent ? 0 : -1} className="-my-0.5 truncate">
            {who.name}
          </NameButton>
          {who.kind === "user" ? null : <span className="sr-only">{who.kind}</span>}
          <span aria-hidden="true">·</span>
          <Time at={standing.since} as="age" />
          <span className="flex-1" />
          {message.reply_count > 0 ? (
            <Link
              to="/channels/$name"
              params={{ name: message.channel ?? "" }}
              search={{ at: message.id, thread: message.id }}
              tabIndex={isCurrent ? 0 : -1}
              draggable={false}
              aria-label={`${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`}
              className="inline-flex h-6 shrink-0 items-center gap-1 hover:text-fg -my-0.5 pointer-coarse:-my-2 pointer-coarse:h-9"
            >
              <MessagesSquare size={13} aria-hidden="true" />
              {message.reply_count}
            </Link>
          ) : null}
        </div>
        {hasChannel ? <span className="truncate text-sm text-muted">#{message.channel}</span> : null}
        {state === "in_progress" && claimant && claimant.name !== message.from.name ? (
          <span className="truncate text-sm text-muted">proposed by {message.from.name}</span>
        ) : null}
        {approvers.length > 0 && !isSettled ? (
          <span className="flex min-w-0 items-center gap-1 text-sm text-muted">
            <Check size={13} aria-hidden="true" className="shrink-0" />
            <span className="sr-only">approved by</span>
            <span className="truncate">{approvers.map(({ name }) => name).join(", ")}</span>
          </span>
        ) : null}
        {lapsed ? <span className="text-sm text-amber">{lapsed}</span> : null}
        {standing.isStale && channel ? (
          <span className="flex items-center gap-1 text-sm text-amber">
            <Clock size={13} aria-hidden="true" className="shrink-0" />
            {staleWords(standing, channel)}
          </span>
        ) : null}
      </article>
    </li>
  );
});
