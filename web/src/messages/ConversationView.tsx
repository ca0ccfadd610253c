import type { QueryKey } from "@tanstack/react-query";
import { ArrowDown } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";

import type { Conversation } from "../api/queries";
import { placeKey } from "../api/types";
import { appearance } from "../lib/appearance";
import { useStore } from "../lib/store";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { Empty } from "../ui/States";
import { laterPart } from "../ui/laterPart";
import { ConversationRow } from "./ConversationRow";
import type { MessageListProps } from "./MessageList";
import { useMessageKeys } from "./keys";
import { outgoing } from "./outbox";
import { rowsOf } from "./rows";
import { useLoadMore } from "./useLoadMore";
import { useMarkRead } from "./useMarkRead";
import { usePositions } from "./usePositions";
import { useScrolling } from "./useScrolling";
import { useVirtualRows } from "./useVirtualRows";

const Announcer = laterPart(() => import("./Announcer").then((part) => part.Announcer));

interface ConversationViewProps extends MessageListProps {
  data: Conversation;
  /** The key of that data in the cache. */
  dataKey: QueryKey;
  /** How far the person had read, or null if nothing counts as unread for them. */
  unreadAfter: number | null;
}

/** The messages of a conversation, or of a part from its middle. */
export function ConversationView({ place, at, onThread, empty, data, dataKey, unreadAfter, onLeave }: ConversationViewProps) {
  const key = placeKey(place);
  const me = useMe()?.user.username;
  const sending = useStore(outgoing);
  const zone = useStore(appearance, (chosen) => chosen.zone);
  const mine = useMemo(() => sending.filter((one) => one.place === key && one.replyTo === null), [sending, key]);
  // The divider of unread messages stays where it was when the person came, although they read on.
  const lastRead = data.lastRead;
  const [readBefore] = useState(unreadAfter);

  const rows = useMemo(
    () => rowsOf(data.items, mine, readBefore, me, data.starts, data.hasOlder),
    // In another time zone, days begin elsewhere.
    [data, mine, readBefore, me, zone],
  );

  const isPart = data.hasNewer === true;
  const box = useRef<HTMLDivElement>(null);
  const { virtual, focused } = useVirtualRows({ rows, box, at, isPart });

  const load = useLoadMore(place, dataKey);
  const { isAtEnd, inSight, onScroll, stay, goToEnd } = useScrolling({ box, virtual, rows, at, isPart, load, waiting: mine.length, onLeave });
  const [seenLast, setSeenLast] = useState<number | null>(null);
  const last = data.items.at(-1)?.id ?? null;

  // A link to a message skips what comes before it, so that is not read.
  useMarkRead({ place, dataKey, last: isAtEnd ? last : at === undefined ? inSight : null, lastRead });

  useEffect(() => {
    if (isAtEnd) setSeenLast(last);
  }, [isAtEnd, last]);
  const missed = isPart ? 0 : data.items.filter((message) => seenLast !== null && message.id > seenLast).length;

  useMessageKeys(box, {
    messages: data.items,
    show: (id) => {
      const index = rows.findIndex((row) => row.kind === "message" && row.message.id === id);
      if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
    },
    onReply: (id) => {
      onThread?.(id);
      // If the thread is already open, nothing else moves the focus there.
      document.querySelector<HTMLElement>(`[data-thread="${id}"] textarea`)?.focus();
    },
  });

  const known = useMemo(() => new Map(data.items.map((message) => [message.id, message])), [data.items]);

  usePositions(box, rows, data);

  if (rows.length === 0) {
    if (place.kind !== "dm" || !place.as) return empty ?? <Empty title="No messages yet">Send the first one below.</Empty>;
    return <Empty title="No messages yet">{`What @${place.as} and @${place.name} write to each other appears here.`}</Empty>;
  }
  return (
    <div className="relative min-h-0 flex-1 pb-2">
      <div
        ref={box}
        onScroll={onScroll}
        onWheel={stay}
        onPointerDown={stay}
        onKeyDown={stay}
        onFocus={(event) => {
          const id = event.target.closest<HTMLElement>("[data-message]")?.dataset["message"];
          focused.current = id ? `m${id}` : null;
        }}
        onBlur={() => {
          focused.current = null;
        }}
        role="log"
        aria-label="Messages"
        aria-live="off"
        tabIndex={0}
        className="h-full overflow-y-auto [overflow-anchor:none]"
      >
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row ? (
              <div
                key={item.key}
                data-index={item.index}
                ref={virtual.measureElement}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <ConversationRow row={row} known={known} isPart={isPart} place={place} at={at} onThread={onThread} />
              </div>
            ) : null;
          })}
        </div>
      </div>
      <Announcer messages={data.items} me={me} isFollowing={isAtEnd} />
      {isAtEnd ? null : (
        <Button
          className="absolute right-6 bottom-3 shadow-md"
          onClick={goToEnd}
          // The button covers the list, so turning the wheel over it scrolls the list.
          onWheel={({ deltaY }) => box.current?.scrollBy(0, deltaY)}
        >
          <ArrowDown size={14} aria-hidden="true" />
          {missed > 0 ? `${missed} new` : "Latest"}
        </Button>
      )}
    </div>
  );
}
