import type { Message } from "../api/types";

/** Whether a message stands for work, and so has a state to show. */
export function isWork(message: Message): boolean {
  return message.workflow_state !== "proposed" || (message.from.kind === "agent" && "action_type" in message.metadata);
}
