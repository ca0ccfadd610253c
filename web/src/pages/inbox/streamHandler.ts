import type { QueryClient } from "@tanstack/react-query";

import type { StreamHandler } from "../../live/handlers";
import { reloadAtLeisure, reloadSoon } from "../../live/reloadSoon";

/** On other pages only the number at the inbox depends on its lists. */
function reloadInbox(client: QueryClient): void {
  const reload = location.pathname === "/inbox" ? reloadSoon : reloadAtLeisure;
  reload(client, "inbox");
}

/** Keeps the lists of the inbox up to date. */
export const inboxHandler = {
  events: {
    new_message: reloadInbox,
    message_updated: reloadInbox,
    message_deleted: reloadInbox,
    reaction: reloadInbox,
    attention: reloadInbox,
  },
} satisfies StreamHandler;
