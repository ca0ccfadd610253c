import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { sentenceOf } from "../api/problem";
import type { Message } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field, INPUT, Refusal } from "../ui/Field";
import { KindChoice } from "./KindChoice";
import { changeKind } from "./changeKind";
import { KIND_RULE, isKind, keepKind, lastKind } from "./kinds";
import { titleOf } from "./title";

/** Asks what kind of work a message is, and turns it into that. */
export default function KindDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const client = useQueryClient();
  const channel = message.channel ?? "";
  const [kind, setKind] = useState(() => lastKind(channel));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async () => {
    if (!isKind(kind)) return;
    setBusy(true);
    try {
      await changeKind(client, message, kind);
      keepKind(channel, kind);
      onClose();
    } catch (problem) {
      setError(sentenceOf(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Turn into work" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p className="font-medium break-words">{titleOf(message)}</p>
        <Field label="Kind of work" hint="It goes to the board, where it can be approved or claimed." error={kind === "" || isKind(kind) ? undefined : KIND_RULE}>
          {(wiring) => <KindChoice {...wiring} autoFocus channel={channel} value={kind} onChange={setKind} className={INPUT} />}
        </Field>
        {error ? <Refusal>{error}</Refusal> : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={isBusy || !isKind(kind)}>
            Turn into work
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
