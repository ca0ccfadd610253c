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
