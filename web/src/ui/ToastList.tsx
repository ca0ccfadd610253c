import { X } from "lucide-react";

import { useStore } from "../lib/store";
import { Button, IconButton } from "./Button";
import { Shown } from "./Shown";
import { classes } from "./classes";
import { dismiss, hold, toasts } from "./Toasts";

/** What was said in passing. */
export function ToastList() {
  const shown = useStore(toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      // A phone has no room beside the page, so they stand below it and cover nothing that somebody wants to press.
      className="pointer-events-none fixed right-4 bottom-24 z-50 flex flex-col gap-2 max-md:relative max-md:inset-auto max-md:shrink-0 max-md:not-empty:p-2"
    >
      {shown.map(({ id, text, isError, undo }) => (
        <div
          key={id}
          onPointerEnter={() => hold(true)}
          onPointerLeave={() => hold(false)}
          onFocus={() => hold(true)}
          onBlur={() => hold(false)}
          className="pointer-events-auto flex max-w-96 items-center max-md:max-w-none gap-2 rounded-md border border-line bg-bg px-3 py-2 shadow-lg"
        >
          <span className={classes("min-w-0 flex-1 [overflow-wrap:anywhere]", isError && "text-rejected")}>
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
