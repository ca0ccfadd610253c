import type { QueryClient } from "@tanstack/react-query";

import type { StreamHandler } from "../../live/handlers";
import { reloadSoon } from "../../live/reloadSoon";

const reloadInbox = (client: QueryClient) => reloadSoon(client, "inbox");

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
