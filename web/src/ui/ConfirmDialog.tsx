import { type ReactNode, useState } from "react";

import { sentenceOf } from "../api/problem";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Field, INPUT, Refusal } from "./Field";

/** Makes sure of what cannot be taken back. With `typed`, the person writes it down first. */
export function ConfirmDialog({
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
