import { Check, Code, X } from "lucide-react";
import type { ReactNode } from "react";

import type { Message, WorkflowState } from "../../api/types";
import { showSource } from "../../messages/source";
import { claimantOf } from "../../workflow/moves";
import { useMove } from "../../workflow/useMove";
import type { RowKind } from "./InboxRow";
import type { Item } from "./groups";
import { useReadUpTo } from "./useMarkRead";

/** An action on a row of the inbox. */
export interface RowAction {
  label: string;
  icon?: ReactNode;
  run: () => void;
  isMain?: boolean;
  /** On a phone only its icon is shown. */
  isMinor?: boolean;
  /** Something opens, and the row stays. */
  isKept?: boolean;
}

/** The actions that settle a row, by their keys. */
export type ActionsOf = (kind: RowKind, item: Item) => Record<string, RowAction>;

export function useRowActions(self: string, reject: (message: Message) => void): ActionsOf {
  const move = useMove();
  const readUpTo = useReadUpTo();
  return (kind, { message }): Record<string, RowAction> => {
    const to = (state: WorkflowState) => () => void move(message, state);
    const look = { s: { label: "Show source", icon: <Code size={14} aria-hidden="true" className="sm:hidden" />, isMinor: true, run: () => showSource(message), isKept: true } };
    const isMine = claimantOf(message)?.name === self;
    switch (kind) {
      case "mentions":
        return { e: { label: "Mark read", run: () => void readUpTo(message) } };
      case "approvals":
        return {
          a: { label: "Approve", icon: <Check size={14} aria-hidden="true" />, run: to("approved"), isMain: true },
          x: { label: "Reject", icon: <X size={14} aria-hidden="true" />, run: () => reject(message), isKept: true },
          ...look,
        };
      case "claimed":
        // An agent finishes its work or releases its claim itself. A member of the channel can remove the claim in the menu of the message.
        return isMine
          ? { d: { label: "Done", icon: <Check size={14} aria-hidden="true" />, run: to("done") }, r: { label: "Release claim", run: to(releasedState(message)) } }
          : {};
      case "stale":
        return message.workflow_state === "in_progress"
          ? {}
          : {
              c: { label: "Claim", run: to("in_progress") },
              ...(message.workflow_state === "proposed" ? { a: { label: "Approve", run: to("approved") }, ...look } : {}),
            };
    }
  };
}

/** The state that a message has without its claim. */
function releasedState(message: Message): WorkflowState {
  return message.reactions.some(({ reaction }) => reaction === "approve") ? "approved" : "proposed";
}
