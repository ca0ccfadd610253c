import { useQuery, useQueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import type { Message, Reacted } from "../api/types";
import { removeReactionOf } from "../api/workflow";
import { MenuItem } from "../ui/MenuItem";
import { toast } from "../ui/Toasts";
import { changeMessage } from "./cache";
import { removalWords, removable } from "./reactions";

/** In the menu of a message, for the owner of its channel: removes what others said of it. */
export function RemoveReactions({ message, me }: { message: Message; me: string | undefined }) {
  const client = useQueryClient();
  const owner = useQuery(channelsQuery).data?.find(({ name }) => name === message.channel)?.owner;
  const remove = async (one: Reacted) => {
    try {
      const { reactions, workflow_state } = await removeReactionOf(message.id, one.reaction, one.from.name);
      changeMessage(client, message.id, (now) => ({ ...now, reactions, workflow_state }));
      toast(`${removalWords(one, "Removed")}.`);
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
  return removable(message, me, owner).map((one) => (
    <MenuItem key={`${one.from.name} ${one.reaction}`} isDanger onSelect={() => void remove(one)}>
      <span className="truncate">{removalWords(one, "Remove")}</span>
    </MenuItem>
  ));
}
