import { useQueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import type { Message, Reacted } from "../api/types";
import { removeReactionOf } from "../api/workflow";
import { MenuItem } from "../ui/MenuItem";
import { toast } from "../ui/Toasts";
import type { Seat } from "../workflow/seat";
import { changeMessage } from "./cache";
import { removalWords, removable } from "./reactions";

/** In the menu of a message: removes what others said of it, as far as the person may. */
export function RemoveReactions({ message, me, seat }: { message: Message; me: string | undefined; seat: Seat | undefined }) {
  const client = useQueryClient();
  const remove = async (one: Reacted) => {
    try {
      const { reactions, workflow_state } = await removeReactionOf(message.id, one.reaction, one.from.name);
      changeMessage(client, message.id, (now) => ({ ...now, reactions, workflow_state }));
      toast(removalWords(one, "Removed"));
    } catch (error) {
      toast(sentenceOf(error), { isError: true });
    }
  };
  return removable(message, me, seat).map((one) => (
    <MenuItem key={`${one.from.name} ${one.reaction}`} isDanger onSelect={() => void remove(one)}>
      <span className="truncate">{removalWords(one, "Remove")}</span>
    </MenuItem>
  ));
}
