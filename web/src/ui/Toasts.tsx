import { X } from "lucide-react";

import { store, useStore } from "../lib/store";
import { Button, IconButton } from "./Button";
import { Shown } from "./Shown";
import { classes } from "./classes";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  undo?: () => void;
}

const SHOWN_MS = 6000;
/** What can be taken back, and what went wrong, takes longer to decide about. */
const SHOWN_LONG_MS = 12_000;
/** While somebody is at one of them, none goes away. */
let isHeld = false;
const toasts = store<Toast[]>([]);
let next = 1;

function dismiss(id: number): void {
  isHeld = false;
  toasts.set((now) => now.filter((toast) => toast.id !== id));
}

/** Says something in passing. What can be taken back can be taken back from here. */
export function toast(text: string, options: { isError?: boolean; undo?: () => void } = {}): void {
  const id = next++;
  toasts.set((now) => [...now.slice(-3), { id, text, isError: options.isError ?? false, undo: options.undo }]);
  const end = () => void (isHeld ? setTimeout(end, 1000) : dismiss(id));
  setTimeout(end, options.isError || options.undo ? SHOWN_LONG_MS : SHOWN_MS);
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed right-4 bottom-24 z-50 flex flex-col gap-2">
      {shown.map(({ id, text, isError, undo }) => (
        <div
          key={id}
          onPointerEnter={() => (isHeld = true)}
          onPointerLeave={() => (isHeld = false)}
          onFocus={() => (isHeld = true)}
          onBlur={() => (isHeld = false)}
          className="pointer-events-auto flex max-w-96 items-center gap-2 rounded-md border border-line bg-bg px-3 py-2 shadow-lg"
        >
          <span className={classes("min-w-0 [overflow-wrap:anywhere]", isError && "text-rejected")}>
            <Shown text={text} most={1000} />
          </span>
          {undo ? (
            <Button
              look="plain"
              size="row"
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              Undo
            </Button>
          ) : null}
          <IconButton label="Dismiss" onClick={() => dismiss(id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
