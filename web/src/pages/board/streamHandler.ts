import type { QueryClient } from "@tanstack/react-query";

import type { WorkflowState } from "../../api/types";
import type { ReactionView } from "../../api/workflow";
import { type StreamHandler, numberIn, textIn } from "../../live/handlers";
import { reloadSoon } from "../../live/reloadSoon";
import type { LiveEvent } from "../../live/stream";
import { isReply } from "../../messages/isReply";
import { findCard, moveCard, putCard } from "../../workflow/cards";

/** Keeps the cards of the boards up to date. */
export const boardHandler = {
  events: {
    new_message: (client, event) => {
      const parent = numberIn(event, "reply_to");
      if (parent !== undefined) {
        const card = findCard(client, parent);
        if (card && isReply(event, card)) putCard(client, { ...card, reply_count: card.reply_count + 1 });
      } else if (textIn(event, "channel")) {
        reloadSoon(client, "board");
      }
    },
    message_updated: reloadChanged,
    message_deleted: reloadChanged,
    reaction: (client, event) => {
      const id = numberIn(event, "message_id");
      const state = textIn(event, "workflow_state") as WorkflowState | undefined;
      const reactions = Array.isArray(event.data["reactions"]) ? (event.data["reactions"] as ReactionView[]) : undefined;
      const isMoved = id !== undefined && state && reactions && moveCard(client, id, state, reactions);
      // A column that is still loading may be older than the reaction.
      if (!isMoved || client.isFetching({ queryKey: ["board"] }) > 0) reloadSoon(client, "board");
    },
  },
} satisfies StreamHandler;

function reloadChanged(client: QueryClient, event: LiveEvent): void {
  // A changed status alone moves no card: columns follow the reactions. A message that is no card may have become one.
  if (textIn(event, "status") === undefined) reloadSoon(client, "board");
}
