import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef } from "react";

import type { Message, WorkflowState } from "../../api/types";
import { hasSingleKeys } from "../../lib/appearance";
import { showSource } from "../../messages/source";
import { findCard } from "../../workflow/cards";
import { cardId } from "./BoardCard";
import { MOVE_KEYS } from "./MoveMenu";
import { nextCard } from "./steps";

interface BoardKeys {
  /** The cards by column, as they are shown. */
  grid: number[][];
  isOff: boolean;
  openMenu: (id: number, button: HTMLElement) => void;
  go: (message: Message, target: WorkflowState) => void;
}

/** Goes from card to card with the arrow keys, and moves cards by letters. */
export function useBoardKeys({ grid, isOff, openMenu, go }: BoardKeys): (event: KeyboardEvent<HTMLElement>) => void {
  const client = useQueryClient();
  const wasG = useRef(false);
  return (event) => {
    const isAfterG = wasG.current;
    wasG.current = event.key === "g";
    const card = (event.target as HTMLElement).closest<HTMLElement>("article[id^=card-]");
    if (!card || isOff || event.metaKey || event.ctrlKey || event.altKey) return;
    const id = Number(card.id.slice("card-".length));
    const next = nextCard(grid, id, event.key);
    if (next !== undefined) {
      event.preventDefault();
      document.getElementById(cardId(next))?.focus();
      return;
    }
    if (event.key === "Enter" && event.target === card) {
      event.preventDefault();
      openMenu(id, card.querySelector<HTMLElement>("[aria-haspopup=menu]") ?? card);
      return;
    }
    const target = MOVE_KEYS[event.key];
    const message = findCard(client, id);
    if (!message || isAfterG || !hasSingleKeys() || (!target && event.key !== "s")) return;
    event.preventDefault();
    if (target) go(message, target);
    else showSource(message);
  };
}
