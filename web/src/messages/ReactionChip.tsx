import type { MouseEvent } from "react";

import type { Message, Reaction } from "../api/types";
import { fullName } from "../lib/names";
import { REACTIONS, listed, whoReacted } from "./reactions";

interface ReactionChipProps {
  message: Message;
  reaction: Reaction;
  me: string | undefined;
  isOff: boolean;
  onPress: (event: MouseEvent<HTMLElement>) => void;
}

/** A reaction beside the one that the state comes from: how many, who, and whether one is among them. */
export function ReactionChip({ message, reaction, me, isOff, onPress }: ReactionChipProps) {
  const who = whoReacted(message, reaction, me);
  const { verb, icon } = REACTIONS[reaction];
  return (
    <button
      type="button"
      aria-pressed={who[0] === "you"}
      aria-label={`${verb} ${who.length}: ${listed(who, 8)}`}
      title={listed(whoReacted(message, reaction, me, fullName), 8)}
      disabled={isOff}
      onClick={onPress}
      className="inline-flex h-6 items-center gap-1 rounded-md border border-line px-1.5 text-xs text-muted hover:bg-panel hover:text-fg aria-pressed:border-accent aria-pressed:text-fg pointer-coarse:h-11"
    >
      <span aria-hidden="true">{icon}</span>
      {verb.toLowerCase()} <span className="tabular-nums">{who.length}</span>
    </button>
  );
}
