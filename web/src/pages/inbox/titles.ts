import type { RowKind } from "./InboxRow";

/** The headings of the lists in the inbox. */
export const TITLES: Record<RowKind | "unread", string> = {
  mentions: "Mentions",
  approvals: "Waiting for your approval",
  claimed: "Claimed by you and your agents",
  stale: "Stale work",
  unread: "Unread",
};
