export const PARTS = ["all", "mentions", "approvals", "claimed", "stale", "unread"] as const;
export type Part = (typeof PARTS)[number];

/** Which part of the inbox is shown. */
export function inboxSearch(search: Record<string, unknown>): { show?: Part } {
  const show = PARTS.find((part) => part === search["show"]);
  return { show: show === "all" ? undefined : show };
}
