import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ok } from "../api/client";
import { sentenceOf } from "../api/problem";
import type { Message } from "../api/types";
import { changeMessage } from "../messages/cache";
import { draftKey } from "../messages/drafts";
import { placeOf } from "../messages/place";
import { putBack } from "../messages/rewrite";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { toast } from "../ui/Toasts";

/**
 * Deletes a message that waits, so that nothing starts because of it. If an agent has claimed it, the hub refuses the result. Its text goes back
 * to where it was written.
 */
export function WithdrawButton({ message }: { message: Message }) {
  const client = useQueryClient();
  const me = useMe();
  const [isBusy, setBusy] = useState(false);
  const withdraw = async () => {
    setBusy(true);
    try {
      await ok(api.DELETE("/api/messages/{id}", { params: { path: { id: message.id } } }));
      putBack(draftKey(placeOf(message, me), message.reply_to), message.body, message.attachments);
      changeMessage(client, message.id, (now) => ({ ...now, body: "", attachments: [], deleted_at: new Date().toISOString() }));
      const isBegun = message.status === "processing";
      toast(`Message withdrawn. ${isBegun ? "The agent may have acted on it already. " : ""}Its text is in the message field.`);
    } catch (error) {
      setBusy(false);
      toast(sentenceOf(error), { isError: true });
    }
  };
  return (
    <Button size="row" look="plain" disabled={isBusy} onClick={() => void withdraw()}>
      Withdraw
    </Button>
  );
}
