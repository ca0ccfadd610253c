import type { Delivery } from "../api/runs";
import type { Message } from "../api/types";
import { TERMINAL } from "../workflow/moves";
import type { AskedAgent } from "./askedAgents";

const DAY_MS = 86_400_000;

/** Whether a message is work on which nothing is left to do. */
export const isFinished = ({ workflow_state: state }: Pick<Message, "workflow_state">) => state != null && TERMINAL.includes(state);

/** Whether nothing more happens because of a message, by what the message itself says. */
export function isSettled(message: Pick<Message, "status" | "workflow_state">): boolean {
  return message.status === "done" || message.status === "failed" || isFinished(message);
}

/** Whether it is worth asking the hub what a message has started. A long history is full of messages that were answered long ago. */
export function isAskedAbout(message: Message, now: number): boolean {
  return !isSettled(message) || now - Date.parse(message.created_at) < DAY_MS;
}

/**
 * Whether a delivery says more than the message itself. An agent that reads its inbox by itself is not started, and that is no fault. Runs of
 * agents of others are hidden from the person.
 */
export function isTold({ state, reason }: Delivery, { own }: Pick<AskedAgent, "own">): boolean {
  return state !== "stored" && reason !== "passive" && reason !== "no_wake" && (own !== undefined || state !== "woken");
}
