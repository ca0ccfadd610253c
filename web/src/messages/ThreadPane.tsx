import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { Suspense, lazy, useMemo, useRef } from "react";

import { messageQuery, repliesQuery } from "../api/queries";
import { type Message, type Place, placeKey } from "../api/types";
import { useStore } from "../lib/store";
import { IconButton } from "../ui/Button";
import { Failed, Skeleton } from "../ui/States";
import { VirtualList } from "../ui/VirtualList";
import { Composer } from "./Composer";
import { DropZone } from "./DropZone";
import { MessageRow } from "./MessageRow";
import { OutgoingRow } from "./OutgoingRow";
import { draftKey } from "./drafts";
import { editing } from "./editing";
import { useMessageKeys } from "./keys";
import { outgoing } from "./outbox";

const MessageEditor = lazy(() => import("./MessageEditor"));

/** About how high a reply is. */
const ROW = 64;
const NONE: Message[] = [];

/** A message and all answers to it, wherever they were given. */
export default function ThreadPane({ id, place, onClose }: { id: number; place: Place; onClose: () => void }) {
  const parent = useQuery(messageQuery(id));
  const replies = useQuery(repliesQuery(id));
  const edited = useStore(editing);
  const sending = useStore(outgoing).filter((one) => one.replyTo === id && one.place === placeKey(place));
  const isElsewhere = (message: Message) => message.conversation_id !== parent.data?.conversation_id;
  const messages = useMemo(
    () => [...(parent.data ? [parent.data] : []), ...(replies.data ?? [])],
    [parent.data, replies.data],
  );
  const list = useRef<HTMLDivElement>(null);
  const showRow = useRef<(index: number) => void>(null);
  useMessageKeys(list, {
    messages,
    show: (one) => {
      const index = replies.data?.findIndex((message) => message.id === one) ?? -1;
      if (index >= 0) showRow.current?.(index);
    },
    onReply: () => document.querySelector<HTMLElement>(`[data-thread="${id}"] textarea`)?.focus(),
  });
  return (
    <aside
      aria-label="Thread"
      data-thread={id}
      className="flex w-[400px] shrink-0 flex-col border-l border-line bg-bg max-lg:absolute max-lg:inset-0 max-lg:z-30 max-lg:w-full"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-4">
        <h2 className="font-semibold">Thread</h2>
        <span className="flex-1 truncate text-muted">
          {place.kind === "channel" ? `#${place.name}` : `with @${place.name}`}
        </span>
        <IconButton label="Close thread" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <DropZone draft={draftKey(place, id)}>
        <div ref={list} data-scroller className="min-h-0 flex-1 overflow-y-auto py-2" role="log" aria-label="Replies" tabIndex={0}>
          {parent.isError ? <Failed error={parent.error} retry={() => void parent.refetch()} /> : null}
          {parent.data && edited === id ? (
            <Suspense>
              <MessageEditor message={parent.data} />
            </Suspense>
          ) : null}
          {parent.data && edited !== id ? <MessageRow message={{ ...parent.data, reply_count: 0 }} /> : null}
          {replies.data ? (
            <div className="flex items-center gap-3 px-6 py-2 text-sm text-muted max-md:px-4">
              <span className="h-px flex-1 bg-line" />
              {replies.data.length} {replies.data.length === 1 ? "reply" : "replies"}
              <span className="h-px flex-1 bg-line" />
            </div>
          ) : null}
          {replies.isLoading ? <Skeleton rows={3} /> : null}
          <VirtualList rows={replies.data ?? NONE} keyOf={({ id }) => id} size={ROW} showRow={showRow}>
            {(message) =>
              edited === message.id ? (
                <Suspense>
                  <MessageEditor message={message} />
                </Suspense>
              ) : (
                <>
                  {isElsewhere(message) ? (
                    <p className="px-6 pt-2 text-xs text-muted max-md:px-4">
                      from {message.channel ? `#${message.channel}` : `the DM with @${message.to}`}
                    </p>
                  ) : null}
                  <MessageRow message={message} />
                </>
              )
            }
          </VirtualList>
          {sending.map((one) => (
            <OutgoingRow key={one.key} outgoing={one} place={place} />
          ))}
        </div>
        {/* Nobody reads replies to the hub. */}
        {place.kind === "dm" && place.name === "system" ? null : <Composer place={place} replyTo={id} placeholder="Reply in thread" autoFocus />}
      </DropZone>
    </aside>
  );
}
