/** The kinds of events that the page asks the hub's stream for. A browser drops the kinds that are not named here. */
export const EVENT_KINDS = [
  "new_message",
  "message_updated",
  "message_deleted",
  "unread_update",
  "reaction",
  "channel",
  "presence",
  "attention",
  "run",
  "goal",
  "wiki",
  "resync",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];
