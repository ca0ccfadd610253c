import type { QueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import { channelsQuery, meQuery, messageQuery } from "../api/queries";
import type { Author, Message, Reaction } from "../api/types";
import { type ReadMessage, addReaction, removeReaction } from "../api/workflow";
import { toast } from "../ui/Toasts";
import { finishFault } from "../workflow/seat";
import { seatOf } from "../workflow/seatOf";
import { isTalk } from "../workflow/talk";
import { briefly } from "../workflow/title";
import { changeMessage } from "./cache";
import { REACTIONS, hasReacted, withReaction } from "./reactions";
import { reacting, refreshMessage } from "./refreshMessage";

/** The requests about a message, one after the other, so that the last click wins. */
const turns = new Map<number, Promise<unknown>>();

/** Reacts to a message as the person sees it, or takes their reaction back. */
export async function toggle(client: QueryClient, message: Message, reaction: Reaction): Promise<void> {
  const me = client.getQueryData(meQuery.queryKey)?.user.username;
  const isThere = hasReacted(message, reaction, me);
  const isOfTalk = isTalk(message, client.getQueryData(channelsQuery.queryKey));
  const fault = isThere ? undefined : isOfTalk ? "This message is talk. Turn it into work first." : finishFault(message, reaction, me, seatOf(client, message));
  if (fault) toast(fault, { isError: true });
  else await setReaction(client, message, reaction, !isThere);
}

/** Reacts to a message, or takes it back. It is shown at once; what the hub says then counts. */
export async function setReaction(client: QueryClient, read: ReadMessage, reaction: Reaction, isWanted: boolean, isUndo = false): Promise<void> {
  const { id } = read;
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
  const change = () => (isWanted ? addReaction(read, reaction) : removeReaction(id, reaction));
  const turn = (turns.get(id) ?? Promise.resolve()).catch(() => undefined).then(change);
  turns.set(id, turn);
  const isLast = () => turns.get(id) === turn;
  try {
    const { reactions, workflow_state } = await turn;
    if (isLast()) changeMessage(client, id, (message) => ({ ...message, reactions, workflow_state }));
    const { added, removed } = REACTIONS[reaction];
    toast(`${isWanted ? added : removed}: ${title}`, isUndo ? {} : { undo: () => void setReaction(client, read, reaction, !isWanted, true) });
  } catch (error) {
    if (isLast()) {
      show(!isWanted);
      // Most often somebody else was first, or has edited the message. The person sees it as it is now.
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
