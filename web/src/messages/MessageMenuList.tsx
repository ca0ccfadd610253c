import * as Menu from "@radix-ui/react-dropdown-menu";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import { api, ok } from "../api/client";
import { sentenceOf } from "../api/problem";
import { channelsQuery, meQuery } from "../api/queries";
import type { Me, Message, Reaction } from "../api/types";
import { Confirm } from "../ui/Confirm";
import { MenuItem } from "../ui/MenuItem";
import { toast } from "../ui/Toasts";
import { copy } from "../ui/copy";
import { changeKind } from "../workflow/changeKind";
import { finishFault, seatIn } from "../workflow/seat";
import { isTalk, mayBecomeTalk, mayBecomeWork } from "../workflow/talk";
import { MENU_BUTTON, MENU_LABEL } from "./MessageMenu";
import { RemoveReactions } from "./RemoveReactions";
import { toggleReaction } from "./act";
import { changeMessage } from "./cache";
import { editing } from "./editing";
import { placeOf } from "./place";
import { REACTIONS, REACTION_NAMES, hasReacted, listed, whoReacted } from "./reactions";
import { showSource } from "./source";

const KindDialog = lazy(() => import("../workflow/KindDialog"));

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
  const channels = useQuery(channelsQuery).data;
  const seat = seatIn(channels, me, message);
  // What was said can be taken back, whoever works on it.
  const isOffered = (reaction: Reaction) => hasReacted(message, reaction, self) || !finishFault(message, reaction, self, seat);
  const offered = isTalk(message, channels) ? [] : REACTION_NAMES.filter(isOffered);
  const isOwn = self === message.from.name;
  const [asked, setAsked] = useState<"delete" | "kind" | null>(null);
  const makeTalk = () => changeKind(client, message, null).catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
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
        <Menu.Content align="end" onCloseAutoFocus={(event) => (asked ? event.preventDefault() : undefined)} className="z-40 max-h-[80dvh] max-w-80 min-w-48 overflow-y-auto rounded-md border border-line bg-bg p-1 shadow-lg">
          {offered.length > 0 ? (
            <Menu.Group aria-label="React">
              {offered.map((reaction) => {
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
          ) : null}
          <RemoveReactions message={message} me={self} seat={seat} />
          {offered.length > 0 ? <Menu.Separator className="my-1 h-px bg-line" /> : null}
          {mayBecomeWork(message, channels, self, seat) ? <MenuItem onSelect={() => setAsked("kind")}>Turn into work…</MenuItem> : null}
          {mayBecomeTalk(message, self, seat) ? <MenuItem onSelect={() => void makeTalk()}>Make it talk again</MenuItem> : null}
          <MenuItem onSelect={() => showSource(message)}>Show source</MenuItem>
          {onThread ? <MenuItem onSelect={() => onThread(message.id)}>Reply in thread</MenuItem> : null}
          <MenuItem onSelect={() => void copyLink()}>Copy link</MenuItem>
          {isOwn ? <MenuItem onSelect={() => editing.set(message.id)}>Edit</MenuItem> : null}
          {isOwn ? (
            <MenuItem isDanger onSelect={() => setAsked("delete")}>
              Delete…
            </MenuItem>
          ) : null}
        </Menu.Content>
      </Menu.Portal>
      {asked === "kind" ? (
        <Suspense>
          <KindDialog message={message} onClose={() => setAsked(null)} />
        </Suspense>
      ) : null}
      {asked === "delete" ? (
        <Confirm title="Delete this message?" action="Delete" onConfirm={remove} onClose={() => setAsked(null)}>
          The message is deleted for everyone. This cannot be undone.
        </Confirm>
      ) : null}
    </Menu.Root>
  );
}
