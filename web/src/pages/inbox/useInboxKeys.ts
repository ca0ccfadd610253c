import { useEffect, useRef } from "react";

import { hasSingleKeys } from "../../lib/appearance";
import { areKeysElsewhere } from "../../shell/open";
import type { RowKind } from "./InboxRow";
import type { Item } from "./groups";
import type { ActionsOf } from "./useRowActions";

interface Row {
  kind: RowKind;
  item: Item;
  id: string;
}

/** Goes from row to row with the keyboard, and runs their actions. */
export function useInboxKeys({ rows, open, setAt, actionsOf }: {
  rows: readonly Row[];
  open: string | null;
  setAt: (id: string) => void;
  actionsOf: ActionsOf;
}): void {
  const wasG = useRef(false);
  const onKey = (event: KeyboardEvent) => {
    const isAfterG = wasG.current;
    wasG.current = event.key === "g";
    const { target } = event;
    if (!(target instanceof Element) || event.metaKey || event.ctrlKey || event.altKey || areKeysElsewhere(target)) return;
    // Outside the rows, letters act on the open row.
    const focused = rows.findIndex((row) => row.id === target.closest("li")?.id);
    const place = focused < 0 && event.key.length === 1 ? rows.findIndex((row) => row.id === open) : focused;
    if (place < 0) return;
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step && (event.key.length > 1 || hasSingleKeys())) {
      // From outside the rows, the first step goes to the open row itself.
      const next = rows[focused < 0 ? place : place + step];
      if (!next) return;
      event.preventDefault();
      setAt(next.id);
      document.querySelector<HTMLElement>(`#${next.id} .inbox-title`)?.focus();
      return;
    }
    const row = rows[place]!;
    const action = actionsOf(row.kind, row.item)[event.key];
    if (!action || isAfterG || !hasSingleKeys()) return;
    event.preventDefault();
    // The row will disappear, so the focus moves to the next one. A dialog takes the focus itself.
    const next = rows[place + 1] ?? rows[place - 1];
    action.run();
    if (next && !action.isKept) document.querySelector<HTMLElement>(`#${next.id} .inbox-title`)?.focus();
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => latest.current(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
