import { createContext, useContext } from "react";

import type { Message } from "../api/types";

/**
 * Whether a message stands for work, and so has a state to show. Where messages are work, all that agents write is, apart from answers;
 * elsewhere what they say to be an action.
 */
export function isWork(message: Message, isWorkHere = false): boolean {
  if (message.workflow_state !== "proposed") return true;
  return message.from.kind === "agent" && ("action_type" in message.metadata || (isWorkHere && message.reply_to === null && !message.deleted_at));
}

const context = createContext(false);

/** Says whether messages are work in the channel that is shown. */
export const WorkProvider = context.Provider;

export function useIsWork(message: Message): boolean {
  return isWork(message, useContext(context));
}
