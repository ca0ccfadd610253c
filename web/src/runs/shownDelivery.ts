import type { Delivery } from "../api/runs";
import type { Message } from "../api/types";

const DAY_MS = 86_400_000;

/** Whether nothing more happens because of a message, by what the message itself says. */
export function isSettled(message: Pick<Message, "status" | "workflow_state">): boolean {
  return message.status === "done" || message.status === "failed" || message.workflow_state === "done" || message.workflow_state === "rejected";
}

/** Whether it is worth asking the hub what a message has started. A long history is full of messages that were answered long ago. */
export function isAskedAbout(message: Message, now: number): boolean {
  return !isSettled(message) || now - Date.parse(message.created_at) < DAY_MS;
}

/** Whether a delivery says more than the message itself. An agent that reads its inbox by itself is not started, and that is no fault. */
export function isTold({ state, reason }: Delivery): boolean {
  return state !== "stored" && reason !== "passive" && reason !== "no_wake";
}
