import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";

import { findCard } from "../../workflow/cards";
import type { OpenMenu } from "./MoveMenu";

/** A click on the button of an open menu first closes it. For this long the same click must not open it again. */
const CLOSING_MS = 300;

/** The menu of a card. The card whose menu opens becomes the current one. */
export function useMoveMenu(setCurrent: (id: number) => void) {
  const client = useQueryClient();
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const closed = useRef({ id: 0, at: 0 });
  const openMenu = useCallback(
    (id: number, button: HTMLElement) => {
      const message = findCard(client, id);
      if (!message || (closed.current.id === id && Date.now() - closed.current.at < CLOSING_MS)) return;
      // Below the card, so that its text stays visible.
      const { left, bottom } = (button.closest("article") ?? button).getBoundingClientRect();
      setCurrent(id);
      setMenu({ message, at: { left: left + 16, top: bottom - 8 } });
    },
    [client, setCurrent],
  );
  const closeMenu = () => {
    closed.current = { id: menu?.message.id ?? 0, at: Date.now() };
    setMenu(null);
  };
  return { menu, openMenu, closeMenu };
}
