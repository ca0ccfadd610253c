import type { Message } from "../api/types";

/** Whether a reply of an agent only says why a direct message failed. The box at that message shows the reason already. */
export function isFailureNotice(reply: Message, parent: Message | undefined, me: string | undefined): boolean {
  if (!parent || reply.from.kind !== "agent" || reply.metadata["failed"] !== true || reply.deleted_at) return false;
  if (reply.attachments.length > 0 || reply.reply_count > 0 || reply.reactions.length > 0) return false;
  return parent.status === "failed" && !parent.deleted_at && parent.from.name === me && parent.to === reply.from.name;
}
