import { useQuery, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";

import { conversationQuery } from "../api/queries";
import type { Message } from "../api/types";
import { send } from "../messages/outbox";
import { placeOf } from "../messages/place";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";

/** Sends the text of a message that failed once more, as a new message. The new one names the old one, so nobody does it twice. */
export function ResendButton({ message }: { message: Message }) {
  const client = useQueryClient();
  const place = placeOf(message, useMe());
  const [isSent, setSent] = useState(false);
  const again = useQuery({ ...conversationQuery(place), enabled: false }).data?.items.some(
    ({ id, metadata, from }) => id > message.id && from.name === message.from.name && metadata["retry_of"] === message.id,
  );
  if (isSent || again) return <span className="text-sm text-muted">Sent again below</span>;
  const resend = () => {
    setSent(true);
    const attachments = message.attachments.map(({ sha256 }) => sha256);
    const metadata = { retry_of: message.id } as Record<string, unknown> as Record<string, never>;
    send(client, place, { body: message.body, reply_to: message.reply_to ?? undefined, attachments, metadata }, message.attachments);
  };
  return (
    <Button size="row" aria-label={`Retry message ${message.id}`} onClick={resend}>
      <RotateCw size={12} aria-hidden="true" />
      Retry
    </Button>
  );
}
