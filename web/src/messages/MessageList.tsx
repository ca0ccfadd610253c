import { type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { Problem } from "../api/problem";
import { type Conversation, PAGE, aroundQuery, conversationQuery, fetchMessages } from "../api/queries";
import { type Message, type Place, placeKey } from "../api/types";
import { afterPaint } from "../lib/afterPaint";
import { appearance } from "../lib/appearance";
import { useStore } from "../lib/store";
import { clockTime, dayName } from "../lib/time";
import { link } from "../live/link";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { Empty, Failed, Skeleton } from "../ui/States";
import { toast } from "../ui/Toasts";
import { Announcer } from "./Announcer";
import { MessageRow } from "./MessageRow";
import { MessageEditor } from "./MessageEditor";
import { OutgoingRow } from "./OutgoingRow";
import { merge } from "./cache";
import { editing } from "./editing";
import { useMessageKeys } from "./keys";
import { outgoing } from "./outbox";
import { joined, withOlder } from "./parts";
import { type Row, rowsOf } from "./rows";

/** What is seen this long has been read. */
const READ_AFTER_MS = 1000;
const NEAR = 400;
/** Rows that are drawn above and below those in sight. */
const OVERSCAN = 6;

interface MessageListProps {
  place: Place;
  /** A message to show in the middle. */
  at?: number;
  onThread?: (id: number) => void;
  /** Forgets which message was asked for. */
  onLeave?: () => void;
}

/** A conversation, newest at the bottom. It stays where it is unless the person is at the end. */
export function MessageList(props: MessageListProps) {
  const { place, at } = props;
  const client = useQueryClient();
  const end = useQuery(conversationQuery(place));
  // What one asks for may be far from the end; then what is around it is shown, until one has read on to the end or goes there.
  const isThere = at === undefined || (end.data?.items.some((message) => message.id === at) ?? true);
  const around = useQuery({ ...aroundQuery(place, at ?? 0), enabled: !isThere });
  const part = !isThere && around.data?.items.some((message) => message.id === at) ? around.data : undefined;
  const isRefused = around.error instanceof Problem && !around.error.isPassing;
  const isElsewhere = !isThere && !part && (around.data !== undefined || isRefused);
  useEffect(() => {
    if (isElsewhere) toast("The message that was asked for is not here.", { isError: true });
  }, [isElsewhere, at]);
  useEffect(() => {
    const whole = part && end.data ? joined(end.data, part) : null;
    if (whole) client.setQueryData<Conversation>(conversationQuery(place).queryKey, whole);
  }, [client, place, end.data, part]);
  const partOf = part ? at : undefined;
  const { queryKey } = useMemo(() => (partOf === undefined ? conversationQuery(place) : aroundQuery(place, partOf)), [place, partOf]);
  if (!isThere && around.isError && !isRefused && !around.data) return <Failed error={around.error} retry={() => void around.refetch()} />;
  // What is there stays there, also while it cannot be loaded again.
  if (end.data && (isThere || !around.isPending)) {
    return (
      <Conversed
        key={placeKey(place)}
        {...props}
        at={isThere || part ? at : undefined}
        data={part ?? end.data}
        dataKey={queryKey}
      />
    );
  }
  if (end.isError) return <Failed error={end.error} retry={() => void end.refetch()} />;
  return <Skeleton />;
}

/** How high a row is thought to be until it was seen. */
function sizeOf(row: Row | undefined): number {
  return row?.kind === "message" ? 64 : 32;
}

/** Where one comes to when one opens a conversation: what was asked for, what is new, or the end. None if it has to be loaded first. */
function goalOf(rows: Row[], at: number | undefined): { index: number; align: "center" | "start" | "end" } | null {
  if (at !== undefined) {
    const index = rows.findIndex((row) => row.kind === "message" && row.message.id === at);
    return index < 0 ? null : { index, align: "center" };
  }
  const unread = rows.findIndex((row) => row.kind === "unread");
  if (unread >= 0 && rows.length - unread > 12) return { index: unread, align: "start" };
  return { index: rows.length - 1, align: "end" };
}

/** About where that is, so that what is drawn first is what one will see. */
function offsetOf(rows: Row[], at: number | undefined): number {
  const goal = goalOf(rows, at);
  const before = rows.slice(0, goal?.index ?? 0).reduce((sum, row) => sum + sizeOf(row), 0);
  const part = { center: 0.5, start: 0, end: 1 }[goal?.align ?? "start"];
  return Math.max(0, before - part * window.innerHeight);
}

interface ConversedProps extends MessageListProps {
  data: Conversation;
  /** Where that is kept. */
  dataKey: QueryKey;
}

function Conversed({ place, at, onThread, data, dataKey, onLeave }: ConversedProps) {
  const client = useQueryClient();
  const key = placeKey(place);
  const me = useMe()?.user.username;
  const sending = useStore(outgoing);
  const zone = useStore(appearance, (chosen) => chosen.zone);
  const mine = useMemo(() => sending.filter((one) => one.place === key && one.replyTo === null), [sending, key]);
  // The divider stays where it was when the person came, while what they see is marked as read.
  const lastRead = data.lastRead;
  const [readBefore] = useState(lastRead ?? null);

  const rows = useMemo(
    () => rowsOf(data.items, mine, readBefore, me, data.starts),
    // In another time zone, days begin elsewhere.
    [data, mine, readBefore, me, zone],
  );

  const box = useRef<HTMLDivElement>(null);
  // The message that has the focus stays in the page however far one scrolls, or the keyboard would lose its place.
  const focused = useRef<string | null>(null);
  const shown = useRef(rows);
  shown.current = rows;
  const rangeExtractor = useCallback((range: Parameters<typeof defaultRangeExtractor>[0]) => {
    const indexes = defaultRangeExtractor(range);
    const held = focused.current === null ? -1 : shown.current.findIndex((row) => row.key === focused.current);
    return held < 0 || indexes.includes(held) ? indexes : [...indexes, held].sort((one, other) => one - other);
  }, []);
  // The same functions for the same rows, or all of them would be laid out anew at each step of scrolling.
  const estimateSize = useCallback((index: number) => sizeOf(rows[index]), [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  // Rows out of sight are drawn once those in sight are on the screen.
  const [overscan, setOverscan] = useState(0);
  useEffect(() => afterPaint(() => setOverscan(OVERSCAN)), []);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    overscan,
    rangeExtractor,
    initialOffset: () => offsetOf(rows, at),
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    anchorTo: "end",
    followOnAppend: !data.hasNewer,
    scrollEndThreshold: 80,
  });

  const [isAtEnd, setAtEnd] = useState(!data.hasNewer);
  const [seenLast, setSeenLast] = useState<number | null>(null);
  const last = data.items.at(-1)?.id ?? null;

  // Comes to the end of a conversation that one opens, or to the message that one asked for.
  const arrived = useRef<string | null>(null);
  // On the way to the end, more may come: one is there when one has seen the last of it.
  const isOnTheWay = useRef(false);
  const isLeaving = useRef(false);
  useEffect(() => {
    const wanted = String(at ?? "");
    if (rows.length === 0 || (arrived.current === wanted && !isOnTheWay.current)) return;
    const isToEnd = isOnTheWay.current || (isLeaving.current && at === undefined);
    const goal = isToEnd ? { index: rows.length - 1, align: "end" as const } : goalOf(rows, at);
    if (!goal) return;
    isLeaving.current = false;
    arrived.current = wanted;
    isOnTheWay.current = goal.align === "end";
    virtual.scrollToIndex(goal.index, { align: goal.align });
  }, [rows, at, virtual]);

  // More is loaded as one comes near what is there.
  const loading = useRef(new Set<string>());
  const load = useCallback(
    async (direction: "older" | "newer") => {
      const now = client.getQueryData<Conversation>(dataKey);
      const edge = direction === "older" ? now?.hasOlder && now.items[0] : now?.hasNewer && now.items.at(-1);
      if (!edge || loading.current.has(direction)) return;
      loading.current.add(direction);
      try {
        const limit = PAGE * 2;
        const { items } = await fetchMessages(place, { limit, [direction === "older" ? "before" : "after"]: edge.id });
        client.setQueryData<Conversation>(dataKey, (latest) => {
          if (!latest) return latest;
          if (direction === "older") return withOlder(latest, items);
          return { ...latest, items: merge(latest.items, items), hasNewer: items.length >= limit };
        });
      } catch {
        // It is tried again when somebody goes on, or the hub is back.
      } finally {
        loading.current.delete(direction);
      }
    },
    [client, dataKey, place],
  );

  const isPart = data.hasNewer === true;
  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (element.scrollTop < NEAR) void load("older");
    if (below < NEAR) void load("newer");
    if (below < 5) isOnTheWay.current = false;
    setAtEnd(below < 80 && !isPart);
  }, [load, isPart]);

  // At the edge nothing moves any more, so nothing would ask for more.
  const isLive = useStore(link, (now) => now === "live");
  useEffect(() => {
    if (isLive) onScroll();
  }, [isLive, onScroll]);

  const leave = useCallback(() => {
    isLeaving.current = true;
    onLeave?.();
  }, [onLeave]);
  // Who writes wants to see it, at the end. What could not be sent before stays there.
  const written = useRef(mine.length);
  useEffect(() => {
    if (isPart && mine.length > written.current) leave();
    written.current = mine.length;
  }, [isPart, mine.length, leave]);
  const stay = () => {
    isOnTheWay.current = false;
    onScroll();
  };
  const goToEnd = () => {
    if (isPart) leave();
    else virtual.scrollToIndex(rows.length - 1, { align: "end" });
  };

  // Read is what was on the screen, at the end, in a window that has the attention, for a while.
  useEffect(() => {
    if (!isAtEnd || last === null || place.kind === "dm" && place.as) return;
    if (lastRead !== null && lastRead !== undefined && lastRead >= last) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      if (document.visibilityState !== "visible" || !document.hasFocus()) return;
      timer = setTimeout(() => {
        const body = place.kind === "channel" ? { channel: place.name, message_id: last } : { dm: place.name, message_id: last };
        void ok(api.POST("/api/notifications/mark-read", { body })).then(
          () => {
            client.setQueryData<Conversation>(dataKey, (now) => (now ? { ...now, lastRead: last } : now));
            void client.invalidateQueries({ queryKey: ["unread"] });
          },
          () => undefined,
        );
      }, READ_AFTER_MS);
    };
    watch();
    window.addEventListener("focus", watch);
    document.addEventListener("visibilitychange", watch);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", watch);
      document.removeEventListener("visibilitychange", watch);
    };
  }, [isAtEnd, last, lastRead, key, client, dataKey, place]);

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
      // If its thread is open already, nothing else takes one there.
      document.querySelector<HTMLElement>(`[data-thread="${id}"] textarea`)?.focus();
    },
  });

  const known = useMemo(() => new Map(data.items.map((message) => [message.id, message])), [data.items]);

  // Which message of how many each one is. Set by hand: as properties, each new message would have all rows drawn again.
  const places = useMemo(() => {
    let count = 0;
    return rows.map((row) => (row.kind === "message" ? ++count : 0));
  }, [rows]);
  useLayoutEffect(() => {
    const size = String(data.hasOlder ? -1 : data.items.length);
    for (const article of box.current?.querySelectorAll<HTMLElement>("article[data-message]") ?? []) {
      const place = String(places[Number(article.parentElement?.dataset["index"])] ?? 0);
      if (article.getAttribute("aria-posinset") !== place) article.setAttribute("aria-posinset", place);
      if (article.getAttribute("aria-setsize") !== size) article.setAttribute("aria-setsize", size);
    }
  });

  if (rows.length === 0) return (
    <Empty title="Nothing has been said here yet">{place.kind === "dm" && place.as ? null : "Write the first message below."}</Empty>
  );
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
                <RowView row={row} known={known} isPart={isPart} place={place} at={at} onThread={onThread} />
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
          // It lies over the list, which is what one means to turn.
          onWheel={({ deltaY }) => box.current?.scrollBy(0, deltaY)}
        >
          <ArrowDown size={14} aria-hidden="true" />
          {missed > 0 ? `${missed} new` : "Latest"}
        </Button>
      )}
    </div>
  );
}

interface RowViewProps extends MessageListProps {
  row: Row;
  known: ReadonlyMap<number, Message>;
  isPart: boolean;
}

function RowView({ row, known, isPart, place, at, onThread }: RowViewProps) {
  const edited = useStore(editing);
  switch (row.kind) {
    case "day":
      return (
        <div className="flex items-center gap-3 px-6 py-2 text-sm text-muted max-md:px-4">
          <span className="h-px flex-1 bg-line" />
          {dayName(row.at)}
          <span className="h-px flex-1 bg-line" />
        </div>
      );
    case "unread":
      return (
        <div className="flex items-center gap-3 px-6 py-1 text-sm text-accent max-md:px-4" role="separator">
          <span className="h-px flex-1 bg-accent" />
          New since {clockTime(row.since)}
          {isPart ? null : ` · ${row.count}`}
        </div>
      );
    case "message":
      return edited === row.message.id ? (
        <MessageEditor message={row.message} />
      ) : (
        <MessageRow
          message={row.message}
          isContinued={row.isContinued}
          isHighlighted={row.message.id === at}
          parent={row.message.reply_to ? known.get(row.message.reply_to) : undefined}
          onThread={onThread}
        />
      );
    case "outgoing":
      return <OutgoingRow outgoing={row.outgoing} place={place} />;
  }
}
