import type { RowKind } from "./InboxRow";

/** The headings of the lists in the inbox. */
export const TITLES: Record<RowKind | "unread", string> = {
  mentions: "Mentions",
  approvals: "Waiting for your approval",
  claimed: "Claimed by you and your agents",
  stale: "Stale work",
  unread: "Unread",
};

/** What comes into each list, for one without anything in it. */
export const ABOUT: Record<RowKind, string> = {
  mentions: "Messages that mention you appear here.",
  approvals: "Work that agents propose and that you may approve appears here.",
  claimed: "Work that you or your agents have claimed appears here until it is done.",
  stale: "Work that has not changed for longer than its channel allows appears here.",
};
