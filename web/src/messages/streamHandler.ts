import type { QueryClient } from "@tanstack/react-query";

import type { Me, Place } from "../api/types";
import { type StreamHandler, numberIn, textIn } from "../live/handlers";
import { reloadSoon } from "../live/reloadSoon";
import type { LiveEvent } from "../live/stream";
import { changeMessage } from "./cache";
import { isReply } from "./isReply";
import { loadNewMessages } from "./loadNewMessages";
import { refreshMessage } from "./refreshMessage";

/** Keeps conversations, threads and unread counts up to date. */
export const messagesHandler = {
  events: {
    new_message: (client, event) => {
      for (const place of conversationsOf(client, event)) void loadNewMessages(client, place);
      const parent = numberIn(event, "reply_to");
      if (parent !== undefined) {
        reloadSoon(client, "replies", parent);
        reloadSoon(client, "threads");
        changeMessage(client, parent, (message) => (isReply(event, message) ? { ...message, reply_count: message.reply_count + 1 } : message));
      }
      if (!textIn(event, "channel")) reloadSoon(client, "partners");
    },
    message_updated: refreshChanged,
    message_deleted: refreshChanged,
    reaction: refreshChanged,
    unread_update: (client, event) => {
      reloadSoon(client, "unread");
      reloadSoon(client, "threads");
      if (textIn(event, "kind") === "dm") reloadSoon(client, "partners");
    },
  },
  catchUp: (client) => {
    for (const { meta } of client.getQueryCache().findAll({ queryKey: ["conversation"] })) {
      if (meta?.["place"]) void loadNewMessages(client, meta["place"] as Place);
    }
    void client.invalidateQueries({ queryKey: ["unread"] });
  },
} satisfies StreamHandler;

function refreshChanged(client: QueryClient, event: LiveEvent): void {
  const id = numberIn(event, "message_id");
  if (id !== undefined) void refreshMessage(client, id);
}

/** The conversations that a new message belongs to, as the person sees them. */
function conversationsOf(client: QueryClient, event: LiveEvent): Place[] {
  const channel = textIn(event, "channel");
  if (channel !== undefined) return [{ kind: "channel", name: channel }];
  const me = client.getQueryData<Me>(["me"]);
  const from = (event.data["from"] as { name?: string } | undefined)?.name;
  const to = textIn(event, "to");
  if (!me || typeof from !== "string" || to === undefined) return [];
  const own = [me.user.username, ...me.agents.map((agent) => agent.name)];
  const seenBy = (self: string, other: string): Place[] => {
    if (self === me.user.username) return [{ kind: "dm", name: other }];
    return own.includes(self) ? [{ kind: "dm", name: other, as: self }] : [];
  };
  return [...seenBy(from, to), ...seenBy(to, from)];
}
