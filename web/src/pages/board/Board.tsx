import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from "react";

import { meQuery } from "../../api/queries";
import type { Channel, Message, WorkflowState } from "../../api/types";
import type { Scope } from "../../api/workflow";
import { hasSingleKeys } from "../../lib/appearance";
import { useMinute } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { findCard } from "../../workflow/cards";
import { moveTo } from "../../workflow/moves";
import { RejectDialog } from "../../workflow/RejectDialog";
import { authorOf, useMove } from "../../workflow/useMove";
import { BoardCard, cardId } from "./BoardCard";
import { BoardColumn } from "./BoardColumn";
import { BoardFilters } from "./BoardFilters";
import { MOVE_KEYS, MoveMenu, type OpenMenu } from "./MoveMenu";
import { type BoardFilter, isNarrowed } from "./filter";
import { nextCard } from "./steps";
import { type Card, useColumns } from "./useColumns";

interface BoardProps {
  scope: Scope;
  channels: readonly Channel[];
  filter: BoardFilter;
  setFilter: (change: BoardFilter) => void;
  strip: ReactNode;
  /** The channels to choose from, where there are several. */
  choices?: readonly string[];
}

/** Work in columns by its state. A card is moved by hand, by its menu or by a key, and each move is a reaction. */
export function Board({ scope, channels, filter, setFilter, strip, choices = [] }: BoardProps) {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const move = useMove();
  const minute = useMinute();
  const [opened] = useState(() => Date.now());
  const { columns, all } = useColumns(scope, channels, filter, Math.max(minute, opened));
  const [current, setCurrent] = useState<number | null>(null);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [dragged, setDragged] = useState<Card | null>(null);
  const [rejecting, setRejecting] = useState<Message | null>(null);
  /** The card that gets the focus, once it has left the column that it is moved from. */
  const [wanted, setWanted] = useState<{ id: number; from?: WorkflowState } | null>(null);
  const closed = useRef({ id: 0, at: 0 });
  const isFiltered = isNarrowed(filter);
  const isOpen = (state: WorkflowState) => state !== "rejected" || filter.rejected === true;
  const grid = columns.map((column) => (isOpen(column.state) ? column.cards.map(({ message }) => message.id) : []));
  const stop = current !== null && grid.some((ids) => ids.includes(current)) ? current : grid.find((ids) => ids.length)?.[0];

  useEffect(() => {
    if (wanted === null) return;
    const place = columns.find((column) => column.cards.some(({ message }) => message.id === wanted.id))?.state;
    if (place !== undefined && place === wanted.from) return;
    // What is folded up or filtered out cannot have the focus; the board keeps it.
    const card = document.getElementById(cardId(wanted.id)) ?? (stop === undefined ? null : document.getElementById(cardId(stop)));
    card?.focus();
    setWanted(null);
  }, [wanted, columns, stop]);

  const go = useCallback(
    (message: Message, target: WorkflowState) => {
      if (message.workflow_state === target) return;
      if (me && target === "rejected") {
        const plan = moveTo(message, target, authorOf(me));
        if (!plan.isPossible) return toast(plan.reason, { isError: true });
        setRejecting(message);
        return;
      }
      setWanted({ id: message.id, from: message.workflow_state });
      void move(message, target).then((isDone) => {
        if (!isDone) setWanted({ id: message.id });
      });
    },
    [me, move],
  );
  const onMenu = useCallback(
    (id: number, button: HTMLElement) => {
      const message = findCard(client, id);
      // The click that closes the menu is on its button, too.
      if (!message || (closed.current.id === id && Date.now() - closed.current.at < 300)) return;
      // Below the card, so that what it says stays in sight.
      const { left, bottom } = (button.closest("article") ?? button).getBoundingClientRect();
      setCurrent(id);
      setMenu({ message, at: { left: left + 16, top: bottom - 8 } });
    },
    [client],
  );
  const wasG = useRef(false);
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const isAfterG = wasG.current;
    wasG.current = event.key === "g";
    const card = (event.target as HTMLElement).closest<HTMLElement>("article[id^=card-]");
    if (!card || rejecting || event.metaKey || event.ctrlKey || event.altKey) return;
    const id = Number(card.id.slice("card-".length));
    const next = nextCard(grid, id, event.key);
    if (next !== undefined) {
      event.preventDefault();
      document.getElementById(cardId(next))?.focus();
      return;
    }
    if (event.key === "Enter" && event.target === card) {
      event.preventDefault();
      onMenu(id, card.querySelector<HTMLElement>("[aria-haspopup=menu]") ?? card);
      return;
    }
    const target = MOVE_KEYS[event.key];
    const message = findCard(client, id);
    if (target && message && !isAfterG && hasSingleKeys()) {
      event.preventDefault();
      go(message, target);
    }
  };
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
                onMenu={onMenu}
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
          onClose={() => {
            closed.current = { id: menu?.message.id ?? 0, at: Date.now() };
            setMenu(null);
          }}
          // The question why it is rejected has the focus.
          onClosed={() => setWanted((now) => now ?? (current === null || rejecting ? null : { id: current }))}
        />
      ) : null}
      {rejecting ? (
        <RejectDialog
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

function FirstCard({ channel }: { channel: string }) {
  return (
    <>
      Nothing is proposed.{" "}
      <Link to="/channels/$name" params={{ name: channel }} className="text-accent underline">
        Write a message
      </Link>{" "}
      to put a card here.
    </>
  );
}
