import type { Message, WorkflowState } from "../api/types";

/** A message that is work, and so has a state. All others are talk. */
export type Work = Message & { workflow_state: WorkflowState };

export function isWork(message: Message): message is Work {
  return (message.workflow_state ?? null) !== null;
}

/** The kind of work that a message was proposed as. */
export function kindOf({ metadata }: Pick<Message, "metadata">): string | undefined {
  const kind: unknown = metadata["action_type"];
  return typeof kind === "string" ? kind : undefined;
}
