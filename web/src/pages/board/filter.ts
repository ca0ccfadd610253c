import type { Message } from "../../api/types";
import { isWork } from "../../messages/work";
import type { BoardFilter } from "./search";

/** Whether a message is among what is shown. */
export function passes(message: Message, filter: BoardFilter, isStale: boolean): boolean {
  const claimant = message.reactions.find(({ reaction }) => reaction === "in_progress")?.from.name;
  return (
    (filter.by === undefined || message.from.name === filter.by) &&
    (filter.claimed === undefined || claimant === filter.claimed) &&
    (filter.channel === undefined || message.channel === filter.channel) &&
    (!filter.stale || isStale)
  );
}

/** Whether a message is work. What was proposed before the workflow was switched on is settled, and nobody has reacted to it. */
export function isCard(message: Message): boolean {
  return isWork(message) && (message.workflow_state !== "proposed" || message.status !== "done");
}

export function isNarrowed(filter: BoardFilter): boolean {
  return Boolean(filter.by ?? filter.claimed ?? filter.channel ?? filter.stale);
}
