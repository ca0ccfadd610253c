import * as Radix from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";

import { IconButton } from "./Button";

/** Whether something is on the card of a name in the dialog. The card is in front of the dialog, and not a part of it. */
const isOnCard = (target: EventTarget | null) => target instanceof Element && target.closest("[data-card]") !== null;

/** Asks for something before the page goes on. It is there as long as it is rendered. */
export function Dialog({
  title,
  onClose,
  children,
  isWide,
  isKept,
  isText,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  isWide?: boolean;
  /** Only its own buttons close it: what it shows is not shown again. */
  isKept?: boolean;
  /** There is only text in it, so the keyboard scrolls the whole. */
  isText?: boolean;
}) {
  // Radix knows only its own triggers. By the time it looks, a field of the dialog may already have the focus.
  const [opener] = useState(() => document.activeElement);
  const returnFocus = (event: Event) => {
    event.preventDefault();
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (isLost && opener instanceof HTMLElement && opener.isConnected) opener.focus();
  };
  return (
    <Radix.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-shade" aria-hidden="true" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          onInteractOutside={(event) => (isKept || isOnCard(event.target)) && event.preventDefault()}
          onEscapeKeyDown={(event) => isKept && event.preventDefault()}
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[90dvh] w-[95vw] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-bg shadow-lg ${isWide ? "max-w-2xl" : "max-w-md"}`}
        >
          <div className="flex shrink-0 items-center gap-2 border-b border-line px-4 py-2">
            <Radix.Title className="min-w-0 flex-1 text-lg font-semibold">{title}</Radix.Title>
            {isKept ? null : (
              <IconButton label="Close" onClick={onClose}>
                <X size={16} />
              </IconButton>
            )}
          </div>
          <div data-scroller tabIndex={isText ? 0 : undefined} className="min-h-0 overflow-y-auto p-4">
            {children}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
