import { type ReactNode, useState } from "react";

import { sentenceOf } from "../../api/problem";
import type { WorkflowState } from "../../api/types";
import { duration } from "../../lib/time";
import { Button } from "../../ui/Button";
import { stateColour, stateIcon, stateWord } from "../../ui/StateBadge";
import { classes } from "../../ui/classes";
import type { ColumnView } from "./useColumns";

interface BoardColumnProps {
  column: ColumnView;
  isNarrowed: boolean;
  /** Whether what is dragged may be dropped here. */
  takesDrop: boolean;
  onDrop: (state: WorkflowState) => void;
  /** Only its name is shown, until somebody wants it. */
  isCollapsed?: boolean;
  onToggle?: () => void;
  /** What to do where nothing is. */
  hint?: ReactNode;
  children: ReactNode;
}

/** How many there are: what is shown of what is loaded, and whether there is more. */
export function countWords({ cards, loaded, hasMore }: Pick<ColumnView, "cards" | "loaded" | "hasMore">, isNarrowed: boolean): string {
  const all = `${loaded}${hasMore ? "+" : ""}`;
  return isNarrowed && cards.length !== loaded ? `${cards.length} of ${all}` : all;
}

/** Work in one state. */
export function BoardColumn({ column, isNarrowed, takesDrop, onDrop, isCollapsed, onToggle, hint, children }: BoardColumnProps) {
  const { state, cards, hasMore } = column;
  const [isOver, setOver] = useState(false);
  const drop = {
    onDragOver: (event: React.DragEvent) => {
      if (!takesDrop) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "move";
      setOver(true);
    },
    onDragLeave: (event: React.DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: React.DragEvent) => {
      event.preventDefault();
      setOver(false);
      onDrop(state);
    },
  };
  const oldest = Math.max(0, ...cards.map(({ standing }) => standing.ageMs));
  const count = column.isLoading ? "" : countWords(column, isNarrowed);
  const heading = (
    <>
      <span aria-hidden="true" className={stateColour(state)}>
        {stateIcon(state)}
      </span>
      <span className={classes("font-semibold whitespace-nowrap", stateColour(state))}>{stateWord(state)}</span>
      <span className="text-muted tabular-nums">{count}</span>
    </>
  );
  const lit = isOver && takesDrop ? "bg-selected" : takesDrop ? "bg-panel" : "";
  if (isCollapsed) {
    return (
      <section aria-label={stateWord(state)} className="flex shrink-0" {...drop}>
        <h2 className="flex">
          <button
            type="button"
            aria-expanded="false"
            onClick={onToggle}
            className={classes("flex w-9 items-center gap-2 rounded-md border border-line py-3 [writing-mode:vertical-rl] hover:bg-panel pointer-coarse:w-11", lit)}
          >
            {heading}
          </button>
        </h2>
      </section>
    );
  }
  return (
    <section
      aria-label={stateWord(state)}
      className={classes("@container flex w-50 min-w-50 flex-1 snap-start flex-col rounded-md max-sm:w-[80vw] max-sm:min-w-[80vw]", lit)}
      {...drop}
    >
      <div className="flex min-h-8 shrink-0 items-center gap-2 px-1">
        <h2 className="flex items-center gap-1.5">{heading}</h2>
        <span className="flex-1" />
        {oldest >= 60_000 && state !== "done" && state !== "rejected" && state !== "published" ? (
          <span title="Age of the oldest card" className="text-xs whitespace-nowrap text-muted">
            <span className="sr-only @min-[14.5rem]:not-sr-only">oldest </span>
            {hasMore ? "over " : ""}
            {duration(oldest)}
          </span>
        ) : null}
        {onToggle ? (
          <Button look="plain" size="row" aria-expanded="true" onClick={onToggle}>
            Collapse
          </Button>
        ) : null}
      </div>
      {/* In a low window a column scrolls, also by the keyboard. Only one card of the board has a place in the order of the keyboard. */}
      <div tabIndex={column.cards.length > 0 ? 0 : undefined} className="min-h-0 flex-1 overflow-y-auto p-0.5">
        {column.error ? (
          <div role="alert" className="flex flex-col items-start gap-2 p-2">
            <p>{sentenceOf(column.error)}</p>
            <Button size="row" onClick={column.retry}>
              Retry
            </Button>
          </div>
        ) : null}
        {column.isLoading ? (
          <div role="status" aria-label={`Loading ${stateWord(state)}`} className="flex flex-col gap-2">
            {[0, 1].map((at) => (
              <div key={at} className="h-20 rounded-md border border-line bg-panel" />
            ))}
          </div>
        ) : null}
        {!column.isLoading && !column.error && cards.length === 0 ? (
          <p className="rounded-md border border-dashed border-line p-3 text-sm text-muted">
            {isNarrowed && column.loaded > 0 ? "No matching cards." : (hint ?? "No cards.")}
          </p>
        ) : null}
        <ul className="flex flex-col gap-2">{children}</ul>
        {hasMore ? (
          <Button look="plain" className="mt-2 w-full" disabled={column.isLoadingMore} onClick={column.more}>
            {column.isLoadingMore ? "Loading…" : "Show more"}
          </Button>
        ) : null}
      </div>
    </section>
  );
}
