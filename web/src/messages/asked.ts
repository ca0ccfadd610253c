import type { Me, Message } from "../api/types";

/** Whether the person wrote a message that agents may have to deal with. Which of its recipients are agents is looked up later. */
export function isAsking(message: Message, me: Me | undefined): boolean {
  if (!me || message.from.name !== me.user.username || message.deleted_at) return false;
  return Boolean(message.to) || message.mentions.length > 0;
}
