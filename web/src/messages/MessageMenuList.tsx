import * as Menu from "@radix-ui/react-dropdown-menu";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";

import { api, ok } from "../api/client";
import { channelsQuery, meQuery } from "../api/queries";
import type { Me, Message, Reaction } from "../api/types";
import { Confirm } from "../ui/Confirm";
import { MenuItem } from "../ui/MenuItem";
import { toast } from "../ui/Toasts";
import { copy } from "../ui/copy";
import { finishFault, seatIn } from "../workflow/seat";
import { MENU_BUTTON, MENU_LABEL } from "./MessageMenu";
import { RemoveReactions } from "./RemoveReactions";
import { toggleReaction } from "./act";
import { changeMessage } from "./cache";
import { editing } from "./editing";
import { placeOf } from "./place";
import { REACTIONS, REACTION_NAMES, hasReacted, listed, whoReacted } from "./reactions";
import { showSource } from "./source";

export function permalink(message: Message, me: Me | undefined): string {
  const place = placeOf(message, me);
  const path = place.kind === "channel" ? `/channels/${place.name}` : `/dm/${place.name}`;
  const as = place.kind === "dm" && place.as ? `&as=${place.as}` : "";
  return `${location.origin}${path}?at=${message.id}${as}`;
}

/** What can be done with a message: the menu itself, which is loaded when somebody first wants one. */
export default function MessageMenuList({ message, onThread }: { message: Message; onThread?: (id: number) => void }) {
  const client = useQueryClient();
  const me = useQuery(meQuery).data;
  const self = me?.user.username;
  const seat = seatIn(useQuery(channelsQuery).data, me, message);
  // What was said can be taken back, whoever works on it.
  const isOffered = (reaction: Reaction) => hasReacted(message, reaction, self) || !finishFault(message, reaction, self, seat);
  const isOwn = self === message.from.name;
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await ok(api.DELETE("/api/messages/{id}", { params: { path: { id: message.id } } }));
    changeMessage(client, message.id, (now) => ({ ...now, body: "", deleted_at: new Date().toISOString() }));
    toast("Message deleted");
  };
  const copyLink = () => copy(permalink(message, me)).then((isDone) => isDone && toast("Link copied"));
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger aria-label={MENU_LABEL} className={MENU_BUTTON}>
        <Ellipsis size={16} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="end" onCloseAutoFocus={(event) => (isDeleting ? event.preventDefault() : undefined)} className="z-40 max-h-[80dvh] max-w-80 min-w-48 overflow-y-auto rounded-md border border-line bg-bg p-1 shadow-lg">
          <Menu.Group aria-label="React">
            {REACTION_NAMES.filter(isOffered).map((reaction) => {
              const who = whoReacted(message, reaction, self);
              return (
                <Menu.CheckboxItem
                  key={reaction}
                  checked={who[0] === "you"}
                  onSelect={() => toggleReaction(client, message, reaction)}
                  className="flex min-h-7 cursor-pointer items-center gap-2 rounded-sm px-2 outline-none data-highlighted:bg-selected data-[state=checked]:font-semibold pointer-coarse:min-h-11"
                >
                  <span aria-hidden="true" className="w-5 shrink-0 text-center text-muted">
                    {REACTIONS[reaction].icon}
                  </span>
                  <span className="flex-1 whitespace-nowrap">{REACTIONS[reaction].verb}</span>
                  {who.length > 0 ? <span className="text-right text-sm font-normal text-muted">{listed(who, 8)}</span> : null}
                </Menu.CheckboxItem>
              );
            })}
          </Menu.Group>
          <RemoveReactions message={message} me={self} seat={seat} />
          <Menu.Separator className="my-1 h-px bg-line" />
          <MenuItem onSelect={() => showSource(message)}>Show source</MenuItem>
          {onThread ? <MenuItem onSelect={() => onThread(message.id)}>Reply in thread</MenuItem> : null}
          <MenuItem onSelect={() => void copyLink()}>Copy link</MenuItem>
          {isOwn ? <MenuItem onSelect={() => editing.set(message.id)}>Edit</MenuItem> : null}
          {isOwn ? (
            <MenuItem isDanger onSelect={() => setDeleting(true)}>
              Delete…
            </MenuItem>
          ) : null}
        </Menu.Content>
      </Menu.Portal>
      {isDeleting ? (
        <Confirm title="Delete this message?" action="Delete" onConfirm={remove} onClose={() => setDeleting(false)}>
          The message is deleted for everyone. This cannot be undone.
        </Confirm>
      ) : null}
    </Menu.Root>
  );
}
