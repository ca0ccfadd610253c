import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useCallback, useState } from "react";

import { meQuery } from "../../api/queries";
import type { Channel, Message, WorkflowState } from "../../api/types";
import type { Scope } from "../../api/workflow";
import { useMinute } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { Reject } from "../../workflow/Reject";
import { moveTo } from "../../workflow/moves";
import { seatOf } from "../../workflow/seatOf";
import { authorOf, useMove } from "../../workflow/useMove";
import { BoardCard } from "./BoardCard";
import { BoardColumn } from "./BoardColumn";
import { BoardFilters } from "./BoardFilters";
import { MoveMenu } from "./MoveMenu";
import { isNarrowed } from "./filter";
import type { BoardFilter } from "./search";
import { useBoardKeys } from "./useBoardKeys";
import { useCardFocus } from "./useCardFocus";
import { type Card, useColumns } from "./useColumns";
import { useMoveMenu } from "./useMoveMenu";

interface BoardProps {
  scope: Scope;
  channels: readonly Channel[];
  filter: BoardFilter;
  setFilter: (change: BoardFilter) => void;
  strip: ReactNode;
  /** The channels to choose from, where there are several. */
  choices?: readonly string[];
}

/** Work in columns by its state. The person moves a card by dragging it, by its menu or by a key, and each move is a reaction. */
export function Board({ scope, channels, filter, setFilter, strip, choices = [] }: BoardProps) {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const move = useMove();
  const minute = useMinute();
  const [opened] = useState(() => Date.now());
  const { columns, all } = useColumns(scope, channels, filter, Math.max(minute, opened));
  const [current, setCurrent] = useState<number | null>(null);
  const { menu, openMenu, closeMenu } = useMoveMenu(setCurrent);
  const [dragged, setDragged] = useState<Card | null>(null);
  const [rejecting, setRejecting] = useState<Message | null>(null);
  const isFiltered = isNarrowed(filter);
  const isOpen = (state: WorkflowState) => state !== "rejected" || filter.rejected === true;
  const grid = columns.map((column) => (isOpen(column.state) ? column.cards.map(({ message }) => message.id) : []));
  const stop = current !== null && grid.some((ids) => ids.includes(current)) ? current : grid.find((ids) => ids.length)?.[0];
  const setWanted = useCardFocus(columns, stop);

  const go = useCallback(
    (message: Message, target: WorkflowState) => {
      if (message.workflow_state === target) return;
      if (me && target === "rejected") {
        const plan = moveTo(message, target, authorOf(me), seatOf(client, message));
        if (!plan.isPossible) return toast(plan.reason, { isError: true });
        setRejecting(message);
        return;
      }
      setWanted({ id: message.id, from: message.workflow_state ?? undefined });
      void move(message, target).then((isDone) => {
        if (!isDone) setWanted({ id: message.id });
      });
    },
    [client, me, move, setWanted],
  );
  const onKey = useBoardKeys({ grid, isOff: rejecting !== null, openMenu, go });
  const takesDrop = (state: WorkflowState) =>
    dragged !== null && dragged.message.workflow_state !== state && me !== undefined;
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-6 py-2 max-md:px-4 max-sm:flex-nowrap max-sm:overflow-x-auto">
        <BoardFilters all={all} filter={filter} setFilter={setFilter} channels={choices} />
        <div className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:shrink-0 max-sm:flex-nowrap">{strip}</div>
      </div>
      <div
        role="group"
        aria-label="Board"
        className="flex min-h-0 flex-1 gap-3 overflow-x-auto px-6 py-3 max-md:px-4 max-sm:snap-x max-sm:snap-mandatory max-sm:scroll-px-4"
        onKeyDown={onKey}
      >
        {columns.map((column) => (
          <BoardColumn
            key={column.state}
            column={column}
            isNarrowed={isFiltered}
            takesDrop={takesDrop(column.state)}
            onDrop={(state) => {
              if (dragged) go(dragged.message, state);
              setDragged(null);
            }}
            isCollapsed={!isOpen(column.state)}
            hint={column.state === "proposed" && scope.kind === "channel" ? <FirstCard channel={scope.name} /> : undefined}
            onToggle={
              column.state === "rejected" ? () => setFilter({ rejected: filter.rejected ? undefined : true }) : undefined
            }
          >
            {column.cards.map((card) => (
              <BoardCard
                key={card.message.id}
                card={card}
                isCurrent={card.message.id === stop}
                isMenuOpen={menu?.message.id === card.message.id}
                hasChannel={scope.kind === "all"}
                onMenu={openMenu}
                onCurrent={setCurrent}
                onDrag={setDragged}
              />
            ))}
          </BoardColumn>
        ))}
      </div>
      {me ? (
        <MoveMenu
          menu={menu}
          me={authorOf(me)}
          onMove={go}
          onClose={closeMenu}
          // While the person rejects a card, the dialog has the focus.
          onClosed={() => setWanted((now) => now ?? (current === null || rejecting ? null : { id: current }))}
        />
      ) : null}
      {rejecting ? (
        <Reject
          message={rejecting}
          reject={() => move(rejecting, "rejected")}
          onClose={() => {
            setWanted({ id: rejecting.id });
            setRejecting(null);
          }}
        />
      ) : null}
    </>
  );
}

/** How to get a first card onto the board. */
function FirstCard({ channel }: { channel: string }) {
  return (
    <>
      No proposed work.{" "}
      <Link to="/channels/$name" params={{ name: channel }} className="text-accent underline">
        Send a message
      </Link>{" "}
      to add a card.
    </>
  );
}
