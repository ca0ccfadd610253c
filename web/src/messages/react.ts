import type { QueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import { meQuery, messageQuery } from "../api/queries";
import type { Author, Reaction } from "../api/types";
import { addReaction, removeReaction } from "../api/workflow";
import { toast } from "../ui/Toasts";
import { briefly } from "../workflow/title";
import { changeMessage } from "./cache";
import { REACTIONS, withReaction } from "./reactions";
import { reacting, refreshMessage } from "./refreshMessage";

/** The requests about a message, one after the other, so that the last click wins. */
const turns = new Map<number, Promise<unknown>>();

/** Reacts to a message, or takes it back. It is shown at once; what the hub says then counts. */
export async function setReaction(client: QueryClient, id: number, reaction: Reaction, isWanted: boolean, isUndo = false): Promise<void> {
  const user = client.getQueryData(meQuery.queryKey)?.user;
  if (!user) return;
  const from: Author = { kind: "user", name: user.username, display_name: user.display_name };
  let title = `message ${id}`;
  const show = (isThere: boolean) =>
    changeMessage(client, id, (message) => {
      title = briefly(message);
      return withReaction(message, reaction, from, isThere, new Date().toISOString());
    });
  show(isWanted);
  reacting.set(id, reacting.get(id) ?? false);
  const turn = (turns.get(id) ?? Promise.resolve()).catch(() => undefined).then(() => (isWanted ? addReaction : removeReaction)(id, reaction));
  turns.set(id, turn);
  const isLast = () => turns.get(id) === turn;
  try {
    const { reactions, workflow_state } = await turn;
    if (isLast()) changeMessage(client, id, (message) => ({ ...message, reactions, workflow_state }));
    const { added, removed } = REACTIONS[reaction];
    toast(`${isWanted ? added : removed}: ${title}`, isUndo ? {} : { undo: () => void setReaction(client, id, reaction, !isWanted, true) });
  } catch (error) {
    if (isLast()) {
      show(!isWanted);
      // Most often somebody else was first, and that is to be seen.
      const fresh = await client.fetchQuery({ ...messageQuery(id), staleTime: 0 }).catch(() => null);
      if (fresh) changeMessage(client, id, () => fresh);
    }
    toast(sentenceOf(error), { isError: true });
  } finally {
    if (isLast()) {
      turns.delete(id);
      const wasTold = reacting.get(id);
      reacting.delete(id);
      if (wasTold) void refreshMessage(client, id);
    }
  }
}
