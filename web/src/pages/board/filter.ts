import type { Message } from "../../api/types";

/** What is shown of a board, as the address says it. */
export interface BoardFilter {
  /** Who wrote it. */
  by?: string;
  /** Who has claimed it. */
  claimed?: string;
  channel?: string;
  /** Only what stands still. */
  stale?: true;
  /** Whether the column of what was rejected is open. */
  rejected?: true;
}

export function boardSearch(search: Record<string, unknown>): BoardFilter {
  // A name of digits comes as a number.
  const name = (value: unknown) => (value === undefined || value === "" ? undefined : String(value));
  return {
    by: name(search["by"]),
    claimed: name(search["claimed"]),
    channel: name(search["channel"]),
    stale: search["stale"] === true ? true : undefined,
    rejected: search["rejected"] === true ? true : undefined,
  };
}

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

/** Whether a message is work. What was said before the workflow was switched on is settled, and nobody has reacted to it. */
export function isCard(message: Message): boolean {
  return message.workflow_state !== "proposed" || message.status !== "done";
}

export function isNarrowed(filter: BoardFilter): boolean {
  return Boolean(filter.by ?? filter.claimed ?? filter.channel ?? filter.stale);
}
