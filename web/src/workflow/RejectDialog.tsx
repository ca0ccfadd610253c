import { useState } from "react";

import { sentenceOf } from "../api/problem";
import type { Message } from "../api/types";
import { sayWhy } from "../api/workflow";
import { draftKey } from "../messages/drafts";
import { putBack } from "../messages/rewrite";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextAreaField } from "../ui/TextField";
import { toast } from "../ui/Toasts";
import { titleOf } from "./title";

/** Asks why something is rejected, so that its author can do better. */
export function RejectDialog({ message, reject, onClose }: { message: Message; reject: () => Promise<boolean>; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const submit = () => {
    onClose();
    void reject().then(async (isDone) => {
      if (!reason.trim()) return;
      // Somebody may have edited the message meanwhile. The reason becomes a draft in its thread.
      if (!isDone && message.channel) return putBack(draftKey({ kind: "channel", name: message.channel }, message.id), reason.trim(), []);
      if (!isDone) return;
      try {
        await sayWhy(message, reason.trim());
      } catch (error) {
        toast(`Rejected, but the reason could not be sent. ${sentenceOf(error)}`, { isError: true });
      }
    });
  };
  return (
    <Dialog title="Reject" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p className="font-medium break-words">{titleOf(message)}</p>
        <TextAreaField
          label="Reason"
          hint={`Optional. Sent as a reply to @${message.from.name}.`}
          rows={3}
          autoFocus
          value={reason}
          onChange={setReason}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
          }}
        />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="danger" size="form">
            Reject
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
