import * as Radix from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";

import { sentenceOf } from "../api/problem";
import { Button, IconButton } from "./Button";
import { Field, INPUT, Refusal } from "./Field";

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
  return (
    <Radix.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-shade" aria-hidden="true" />
        <Radix.Content
          aria-describedby={undefined}
          onInteractOutside={(event) => isKept && event.preventDefault()}
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

/** Makes sure of what cannot be taken back. With `typed`, the person writes it down first. */
export function Confirm({
  title,
  children,
  action,
  typed,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  action: string;
  typed?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (problem) {
      setError(sentenceOf(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <div>{children}</div>
        {typed === undefined ? null : (
          <Field label={`Type ${typed} to confirm`}>
            {(wiring) => (
              <input
                {...wiring}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                value={text}
                onChange={(event) => setText(event.target.value)}
                className={INPUT}
              />
            )}
          </Field>
        )}
        {error ? <Refusal>{error}</Refusal> : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="danger" size="form" disabled={isBusy || (typed !== undefined && text !== typed)}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
