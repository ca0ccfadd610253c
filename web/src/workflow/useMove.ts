import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";

import { sentenceOf } from "../api/problem";
import { meQuery, messageQuery } from "../api/queries";
import type { Author, Me, Message, WorkflowState } from "../api/types";
import { type ReadMessage, type Reactions, addReaction, removeReaction } from "../api/workflow";
import { reloadSoon } from "../live/reloadSoon";
import { changeMessage } from "../messages/cache";
import { stateWord } from "../ui/StateBadge";
import { toast } from "../ui/Toasts";
import { putCard, settled } from "./cards";
import { type Step, backwards, moveTo, stateOf } from "./moves";
import { nextWords } from "./nextWords";
import { seatOf } from "./seatOf";
import { briefly } from "./title";

export function authorOf(me: Me): Author {
  return { kind: "user", name: me.user.username, display_name: me.user.display_name };
}

/** Puts a message as it now is wherever it is shown. */
function show(client: QueryClient, message: Message): void {
  putCard(client, settled(message));
  changeMessage(client, message.id, (now) => ({ ...now, reactions: message.reactions, workflow_state: message.workflow_state }));
}

/** Takes the steps of a move, for the text that the person has read. */
async function take(steps: readonly Step[], read: ReadMessage): Promise<Reactions | undefined> {
  let answer: Reactions | undefined;
  for (const { does, reaction } of steps) answer = await (does === "add" ? addReaction(read, reaction) : removeReaction(read.id, reaction));
  return answer;
}

/** Moves work into a state. The page shows it at once, and undoes it if the hub refuses or the person wants it. */
export function useMove(): (message: Message, target: WorkflowState) => Promise<boolean> {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  return useCallback(
    async (message, target) => {
      if (!me) return false;
      const move = moveTo(message, target, authorOf(me), seatOf(client, message));
      if (!move.isPossible) {
        toast(move.reason, { isError: true });
        return false;
      }
      if (move.steps.length === 0) return true;
      const refresh = () => {
        void client.invalidateQueries({ queryKey: ["board"] });
        void client.invalidateQueries({ queryKey: ["inbox"] });
        void client.invalidateQueries({ queryKey: ["trust"] });
      };
      const settle = (answer: Reactions | undefined) => {
        if (answer) show(client, { ...message, reactions: answer.reactions, workflow_state: answer.workflow_state });
        // An answer that is still on its way may be older than the move.
        reloadSoon(client, "board");
        reloadSoon(client, "inbox");
        reloadSoon(client, "trust");
      };
      const undo = async () => {
        show(client, message);
        try {
          settle(await take(backwards(move.steps), message));
        } catch (error) {
          toast(sentenceOf(error), { isError: true });
          refresh();
        }
      };
      show(client, { ...message, reactions: move.after, workflow_state: stateOf(move.after) });
      try {
        const answer = await take(move.steps, message);
        settle(answer);
        const state = answer?.workflow_state ?? target;
        const next = nextWords({ ...message, workflow_state: state });
        toast([`${stateWord(state)}: ${briefly(message)}`, next].filter(Boolean).join(" · "), { undo: () => void undo() });
        return true;
      } catch (error) {
        show(client, message);
        toast(sentenceOf(error), { isError: true });
        // The page showed an outdated state or text.
        const fresh = await client.fetchQuery({ ...messageQuery(message.id), staleTime: 0 }).catch(() => null);
        if (fresh) {
          putCard(client, fresh);
          changeMessage(client, fresh.id, () => fresh);
        }
        refresh();
        return false;
      }
    },
    [client, me],
  );
}
