import type { Channel, Message, WorkflowState } from "../api/types";
import { duration } from "../lib/time";
import { TERMINAL } from "./moves";

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as channels have it, `30m`, `24h`, `7d`; `0` is never. */
export function limitMs(text: string): number | null {
  const match = /^([1-9][0-9]*)([mhd])$/.exec(text);
  return match ? Number(match[1]) * UNITS[match[2]!]! : null;
}

const DECIDING: Partial<Record<WorkflowState, string>> = {
  approved: "approve",
  in_progress: "in_progress",
  rejected: "reject",
  done: "done",
  published: "published",
};

/** Since when a message is in its state, as far as its reactions tell: of what was taken back they tell nothing. */
export function sinceOf(message: Message): string {
  const deciding = message.workflow_state ? DECIDING[message.workflow_state] : undefined;
  return message.reactions.find(({ reaction }) => reaction === deciding)?.created_at ?? message.created_at;
}

/** The limits of a channel, as far as they matter for ages. */
export type Limits = Pick<Channel, "workflow_enabled" | "stalemate_remind_after" | "stalemate_escalate_after">;

/** How long a message stands in its state, against the limits of its channel. */
export interface Standing {
  since: string;
  ageMs: number;
  isStale: boolean;
  isEscalated: boolean;
}

export function standingOf(message: Message, limits: Limits | undefined, now: number): Standing {
  const since = sinceOf(message);
  const ageMs = Math.max(0, now - Date.parse(since));
  const isOpen =
    limits?.workflow_enabled === true &&
    (message.status === "pending" || message.status === "processing") &&
    message.workflow_state != null &&
    !TERMINAL.includes(message.workflow_state) &&
    // Answers are work only while somebody has claimed them.
    ((message.reply_to ?? null) === null || message.workflow_state === "in_progress");
  const isOver = (limit: string | undefined) => {
    const ms = limit === undefined ? null : limitMs(limit);
    return isOpen && ms !== null && ageMs >= ms;
  };
  const isEscalated = isOver(limits?.stalemate_escalate_after);
  return { since, ageMs, isStale: isEscalated || isOver(limits?.stalemate_remind_after), isEscalated };
}

/** What is said beside the amber clock. */
export function staleWords(standing: Standing, limits: Limits): string {
  return `${duration(standing.ageMs)}, ${staleNote(standing, limits)}`;
}

/** What the hub has done about it. */
export function staleNote(standing: Standing, limits: Limits): string {
  return standing.isEscalated ? "everyone notified" : `reminded after ${limitWords(limits.stalemate_remind_after)}`;
}

export function limitWords(limit: string): string {
  const ms = limitMs(limit);
  return ms === null ? "never" : limit;
}
