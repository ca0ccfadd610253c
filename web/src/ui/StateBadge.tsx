import type { WorkflowState } from "../api/types";
import { classes } from "./classes";

const STATES: Record<WorkflowState, { icon: string; word: string; colour: string }> = {
  proposed: { icon: "○", word: "Proposed", colour: "text-proposed" },
  approved: { icon: "✓", word: "Approved", colour: "text-approved" },
  in_progress: { icon: "◐", word: "In progress", colour: "text-in-progress" },
  rejected: { icon: "✕", word: "Rejected", colour: "text-rejected" },
  done: { icon: "✓✓", word: "Done", colour: "text-done" },
  published: { icon: "↗", word: "Published", colour: "text-published" },
};

export const STATE_ORDER: WorkflowState[] = ["proposed", "in_progress", "approved", "published", "done", "rejected"];

export function stateWord(state: WorkflowState): string {
  return STATES[state].word;
}

export function stateIcon(state: WorkflowState): string {
  return STATES[state].icon;
}

export function stateColour(state: WorkflowState): string {
  return STATES[state].colour;
}

/** A state, always with its picture and its word. */
export function StateBadge({ state, note, title, isBare }: { state: WorkflowState; note?: string; title?: string; isBare?: boolean }) {
  const { icon, word, colour } = STATES[state];
  return (
    <span
      title={title}
      className={classes(
        "inline-flex h-5 items-center gap-1 rounded-sm text-xs font-medium whitespace-nowrap",
        !isBare && "bg-[color-mix(in_srgb,currentColor_9%,var(--bg))] px-1.5",
        colour,
      )}
    >
      <span aria-hidden="true">{icon}</span>
      {word}
      {note ? <span className="font-normal">· {note}</span> : null}
    </span>
  );
}
