import type { KeyboardEvent } from "react";

import { hasSingleKeys } from "../lib/appearance";

interface PeekKeys {
  isOpen: boolean;
  close: () => void;
  /** Goes to the next row, or with -1 to the one before; opens the first if none is open. */
  step: (by: 1 | -1) => void;
}

/** The keys of a list with a pane beside it: Escape closes the pane, `j` and `k` go along the list. */
export function peekKeys({ isOpen, close, step }: PeekKeys) {
  return (event: KeyboardEvent) => {
    if (event.key === "Escape" && isOpen && !event.defaultPrevented) return close();
    if (event.ctrlKey || event.metaKey || event.altKey || !hasSingleKeys()) return;
    if ((event.target as HTMLElement).closest("input, select, textarea, [role=dialog]")) return;
    if (event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    step(event.key === "j" ? 1 : -1);
  };
}
