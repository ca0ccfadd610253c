import type { Me, Message } from "../api/types";

/** Whether the person wrote a message to an agent of theirs that messages may start. Agents that read their inbox by themselves start nothing. */
export function isForOwnAgent(message: Message, me: Me | undefined): boolean {
  if (!me || message.from.name !== me.user.username || message.deleted_at) return false;
  return me.agents.some(({ name, trigger_mode }) => trigger_mode !== "passive" && (name === message.to || message.mentions.includes(name)));
}
