import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Clock } from "lucide-react";
import { type MouseEvent, type ReactNode, Suspense, lazy } from "react";

import { channelsQuery } from "../api/queries";
import type { Me, Reaction } from "../api/types";
import { fullName } from "../lib/names";
import { duration } from "../lib/time";
import { Button } from "../ui/Button";
import { StateBadge } from "../ui/StateBadge";
import { useMinute } from "../ui/Time";
import { standingOf, staleNote } from "../workflow/ages";
import { TERMINAL } from "../workflow/moves";
import { nextWords } from "../workflow/nextWords";
import { finishFault } from "../workflow/seat";
import { seatOf } from "../workflow/seatOf";
import type { FootProps } from "./MessageFoot";
import { ReactionChip } from "./ReactionChip";
import { RejectReason } from "./RejectReason";
import { keepFocus, toggleReaction } from "./act";
import {
  REACTION_NAMES,
  hasReacted,
  isUnclaimed,
  isUndecided,
  leading,
  listed,
  otherWords,
  publishedAt,
  stateNote,
  whoReacted,
} from "./reactions";
import { showSource } from "./source";
import type { Work } from "./work";

const WorkNotes = lazy(() => import("../runs/WorkNotes"));

interface ReactionBarProps extends FootProps {
  message: Work;
  /** The person, if they mentioned agents in the message. Then the line says what these do about it. */
  asking?: Me;
}

/** What was said of a message as work, and what one can say oneself. Most messages are none, so it is loaded with the first that is. */
export default function ReactionBar({ message, me, onThread, asking }: ReactionBarProps) {
  const client = useQueryClient();
  const now = useMinute();
  const channel = useQuery(channelsQuery).data?.find(({ name }) => name === message.channel);
  const standing = standingOf(message, channel, Math.max(now, Date.now()));
  const first = leading(message.reactions);
  const url = publishedAt(message);
  const press = (reaction: Reaction) => (event: MouseEvent<HTMLElement>) => {
    keepFocus(event.currentTarget);
    toggleReaction(client, message, reaction);
  };
  const mayNot = (reaction: Reaction) => !hasReacted(message, reaction, me) && finishFault(message, reaction, me, seatOf(client, message)) !== undefined;
  const isFinished = TERMINAL.includes(message.workflow_state);
  const chips = isFinished ? [] : REACTION_NAMES.filter((name) => name !== first && message.reactions.some(({ reaction }) => reaction === name));
  const others = isFinished ? otherWords(message, me) : "";
  const next = nextWords(message);
  const isMine = message.workflow_state === "in_progress" && hasReacted(message, "in_progress", me) && !message.deleted_at;
  return (
    <>
      <StateBadge
        state={message.workflow_state}
        note={stateNote(message, me, Math.max(now, Date.now()))}
        title={first ? listed(whoReacted(message, first, me, fullName), 8) : undefined}
      />
      {standing.isStale && channel && !message.deleted_at ? (
        <span className="inline-flex h-5 items-center gap-1 rounded-sm bg-[color-mix(in_srgb,currentColor_9%,var(--bg))] px-1.5 text-xs font-medium whitespace-nowrap text-amber">
          <Clock size={12} aria-hidden="true" />
          Stale {duration(standing.ageMs)}
          <span className="font-normal">· {staleNote(standing, channel)}</span>
        </span>
      ) : null}
      {url ? (
        <a href={url} target="_blank" rel="noopener noreferrer nofollow" className="max-w-60 truncate text-sm text-accent hover:underline">
          {new URL(url).host}
        </a>
      ) : null}
      {asking ? (
        <Suspense>
          <WorkNotes message={message} me={asking} />
        </Suspense>
      ) : null}
      {chips.map((name) => (
        <ReactionChip key={name} message={message} reaction={name} me={me} isOff={Boolean(message.deleted_at) || mayNot(name)} onPress={press(name)} />
      ))}
      {/* Nothing is left to do about finished work, so this is text and not buttons. The menu of the message still has them. */}
      {others ? <span className="text-sm text-muted">{others}</span> : null}
      {isUndecided(message) ? (
        <Actions>
          <Button size="row" onClick={press("approve")}>
            <span aria-hidden="true">✓</span> Approve
          </Button>
          <Button size="row" onClick={press("reject")}>
            <span aria-hidden="true">✕</span> Reject
          </Button>
          <Button size="row" look="plain" onClick={() => showSource(message)}>
            Show source
          </Button>
        </Actions>
      ) : null}
      {isUnclaimed(message) ? (
        <Button size="row" look={message.workflow_state === "proposed" && !asking ? undefined : "plain"} onClick={press("in_progress")}>
          <span aria-hidden="true">◐</span> Claim
        </Button>
      ) : null}
      {next ? <span className="text-sm text-muted">{next}</span> : null}
      {isMine ? (
        <Actions>
          <Button size="row" onClick={press("done")}>
            <span aria-hidden="true">✓✓</span> Done
          </Button>
          <Button size="row" onClick={press("in_progress")}>
            Release claim
          </Button>
        </Actions>
      ) : null}
      {message.workflow_state === "rejected" && !message.deleted_at ? <RejectReason message={message} me={me} onThread={onThread} /> : null}
    </>
  );
}

/** On a phone they have a line of their own, below the state. */
function Actions({ children }: { children: ReactNode }) {
  return <span className="flex gap-2 max-md:w-full max-md:*:flex-1">{children}</span>;
}
