import * as Menu from "@radix-ui/react-dropdown-menu";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { Author, Message, WorkflowState } from "../../api/types";
import { showSource } from "../../messages/source";
import { STATE_ORDER, stateColour, stateIcon, stateWord } from "../../ui/StateBadge";
import { classes } from "../../ui/classes";
import { moveTo, moveWords } from "../../workflow/moves";
import { seatOf } from "../../workflow/seatOf";
import { titleOf } from "../../workflow/title";

/** Keys that do the same on a card. */
export const MOVE_KEYS: Partial<Record<string, WorkflowState>> = { c: "in_progress", a: "approved", d: "done", x: "rejected" };
const keyOf = (state: WorkflowState) => Object.keys(MOVE_KEYS).find((key) => MOVE_KEYS[key] === state);

const ITEM =
  "flex min-h-8 cursor-pointer items-center gap-2 rounded-sm px-2 outline-none data-highlighted:bg-selected pointer-coarse:min-h-11 " +
  "data-disabled:cursor-default data-disabled:opacity-60";

export interface OpenMenu {
  message: Message;
  /** Where the button is that opened it. */
  at: { left: number; top: number };
}

/** Where a card can go. There is one menu for the whole board: a card each would be much for the browser to hold. */
export function MoveMenu({ menu, me, onMove, onClose, onClosed }: {
  menu: OpenMenu | null;
  me: Author;
  onMove: (message: Message, target: WorkflowState) => void;
  onClose: () => void;
  /** The focus goes back to where it came from. */
  onClosed: () => void;
}) {
  const client = useQueryClient();
  const message = menu?.message;
  return (
    <Menu.Root modal={false} open={menu !== null} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Menu.Trigger asChild>
        <span aria-hidden="true" tabIndex={-1} className="pointer-events-none fixed size-0" style={menu?.at} />
      </Menu.Trigger>
      <Menu.Portal>
        {message ? (
          <Menu.Content
            align="start"
            aria-labelledby={undefined}
            aria-label={`Move: ${titleOf(message)}`}
            collisionPadding={8}
            onCloseAutoFocus={(event) => {
              event.preventDefault();
              onClosed();
            }}
            className="z-40 w-72 max-w-[95vw] rounded-md border border-line bg-bg p-1 shadow-lg"
          >
            <Menu.Label className="px-2 py-1 text-sm text-muted">Move to</Menu.Label>
            {STATE_ORDER.filter((state) => state !== message.workflow_state).map((state) => {
              const move = moveTo(message, state, me, seatOf(client, message));
              return (
                <Menu.Item key={state} disabled={!move.isPossible} onSelect={() => onMove(message, state)} className={ITEM}>
                  <span aria-hidden="true" className={classes("w-5 shrink-0 text-center", stateColour(state))}>
                    {stateIcon(state)}
                  </span>
                  <span className="shrink-0">
                    {stateWord(state)}
                    {state === "rejected" ? "…" : ""}
                  </span>
                  <span className="min-w-0 flex-1 text-right text-sm text-muted">{moveWords(move)}</span>
                  {keyOf(state) && move.isPossible ? (
                    <kbd aria-hidden="true" className="rounded-sm border border-line px-1 text-xs touch:hidden">
                      {keyOf(state)}
                    </kbd>
                  ) : null}
                </Menu.Item>
              );
            })}
            <Menu.Separator className="my-1 h-px bg-line" />
            <Menu.Item onSelect={() => showSource(message)} className={ITEM}>
              Show source
            </Menu.Item>
            <Menu.Item asChild>
              <Link to="/channels/$name" params={{ name: message.channel ?? "" }} search={{ at: message.id }} className={ITEM}>
                Open in #{message.channel}
              </Link>
            </Menu.Item>
            <Menu.Item asChild>
              <Link
                to="/channels/$name"
                params={{ name: message.channel ?? "" }}
                search={{ at: message.id, thread: message.id }}
                className={ITEM}
              >
                Open thread
              </Link>
            </Menu.Item>
          </Menu.Content>
        ) : null}
      </Menu.Portal>
    </Menu.Root>
  );
}
