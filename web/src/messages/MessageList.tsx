import { useQuery, useQueryClient } from "@tanstack/react-query";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { Problem } from "../api/problem";
import { type Conversation, PAGE, conversationQuery, fetchMessages, messageQuery } from "../api/queries";
import { type Message, type Place, placeKey } from "../api/types";
import { afterPaint } from "../lib/afterPaint";
import { appearance } from "../lib/appearance";
import { useStore } from "../lib/store";
import { clockTime, dayName } from "../lib/time";
import { merge } from "../live/patch";
import { useMe } from "../shell/me";
import { Button } from "../ui/Button";
import { Empty, Failed, Skeleton } from "../ui/States";
import { toast } from "../ui/Toasts";
import { Announcer } from "./Announcer";
import { MessageRow } from "./MessageRow";
import { MessageEditor } from "./MessageEditor";
import { OutgoingRow } from "./OutgoingRow";
import { editing } from "./editing";
import { useMessageKeys } from "./keys";
import { outgoing } from "./outbox";
import { isIn } from "./place";
import { type Row, rowsOf } from "./rows";

/** What is seen this long has been read. */
const READ_AFTER_MS = 1000;
const NEAR_TOP = 400;
/** Rows that are drawn above and below those in sight. */
const OVERSCAN = 6;
/** The hub gives no more at a time. */
const MOST_AT_ONCE = 200;

interface MessageListProps {
  place: Place;
  /** A message to show in the middle. */
  at?: number;
  onThread?: (id: number) => void;
}

/** A conversation, newest at the bottom. It stays where it is unless the person is at the end. */
export function MessageList(props: MessageListProps) {
  const query = useQuery(conversationQuery(props.place));
  // What is there stays there, also while it cannot be loaded again.
  if (query.data) return <Conversed key={placeKey(props.place)} {...props} data={query.data} />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
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

function Conversed({ place, at, onThread, data }: MessageListProps & { data: Conversation }) {
  const client = useQueryClient();
  const key = placeKey(place);
  const options = useMemo(() => conversationQuery(place), [key]);
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
    followOnAppend: true,
    scrollEndThreshold: 80,
  });

  const [isAtEnd, setAtEnd] = useState(true);
  const [seenLast, setSeenLast] = useState<number | null>(null);
  const last = data.items.at(-1)?.id ?? null;

  // What one asked for may be further up, and may be somewhere else.
  const isThere = at === undefined || data.items.some((message) => message.id === at);
  const wanted = useQuery({ ...messageQuery(at ?? 0), enabled: !isThere });
  const isRefused = wanted.error instanceof Problem && !wanted.error.isPassing;
  const isElsewhere = !isThere && (isRefused || (wanted.data !== undefined && !isIn(wanted.data, place, me)));
  useEffect(() => {
    if (isElsewhere) toast("The message that was asked for is not here.", { isError: true });
  }, [isElsewhere, at]);

  // Comes to the end of a conversation that one opens, or to the message that one asked for.
  const arrived = useRef<string | null>(null);
  useEffect(() => {
    const wanted = String((isElsewhere ? undefined : at) ?? "");
    if (rows.length === 0 || arrived.current === wanted) return;
    const goal = goalOf(rows, isElsewhere ? undefined : at);
    if (!goal) return;
    arrived.current = wanted;
    virtual.scrollToIndex(goal.index, { align: goal.align });
  }, [rows, at, isElsewhere, virtual]);

  // Older messages are loaded as one comes near the top.
  const isLoading = useRef(false);
  const loadOlder = useCallback(async (limit = PAGE * 2) => {
    const now = client.getQueryData<Conversation>(options.queryKey);
    const first = now?.items[0];
    if (!now?.hasOlder || !first || isLoading.current) return;
    isLoading.current = true;
    try {
      const page = await fetchMessages(place, { before: first.id, limit });
      client.setQueryData<Conversation>(options.queryKey, (latest) =>
        latest
          ? {
              ...latest,
              items: merge(latest.items, page.items),
              hasOlder: page.items.length > 0,
              starts: [...latest.starts, ...page.items.slice(0, 1).map(({ id }) => id)],
            }
          : latest,
      );
    } catch {
      // It is tried again when the list is moved.
    } finally {
      isLoading.current = false;
    }
  }, [client, options, place]);

  // A message that one asked for and that is not there yet.
  useEffect(() => {
    if (at === undefined || isThere || !wanted.data || isElsewhere || !data.hasOlder) return;
    if ((data.items[0]?.id ?? 0) > at) void loadOlder(MOST_AT_ONCE);
  }, [at, isThere, isElsewhere, wanted.data, data, loadOlder]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    if (element.scrollTop < NEAR_TOP) void loadOlder();
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < 80);
  }, [loadOlder]);

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
            client.setQueryData<Conversation>(options.queryKey, (now) => (now ? { ...now, lastRead: last } : now));
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
  }, [isAtEnd, last, lastRead, key, client, options, place]);

  useEffect(() => {
    if (isAtEnd) setSeenLast(last);
  }, [isAtEnd, last]);
  const missed = data.items.filter((message) => seenLast !== null && message.id > seenLast).length;

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
                <RowView row={row} items={data.items} place={place} at={at} onThread={onThread} />
              </div>
            ) : null;
          })}
        </div>
      </div>
      <Announcer messages={data.items} me={me} isFollowing={isAtEnd} />
      {isAtEnd ? null : (
        <Button
          className="absolute right-6 bottom-3 shadow-md"
          onClick={() => virtual.scrollToIndex(rows.length - 1, { align: "end" })}
        >
          <ArrowDown size={14} aria-hidden="true" />
          {missed > 0 ? `${missed} new` : "Latest"}
        </Button>
      )}
    </div>
  );
}

function RowView({ row, items, place, at, onThread }: MessageListProps & { row: Row; items: readonly Message[] }) {
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
          New since {clockTime(row.since)} · {row.count}
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
          parent={row.message.reply_to ? items.find(({ id }) => id === row.message.reply_to) : undefined}
          onThread={onThread}
        />
      );
    case "outgoing":
      return <OutgoingRow outgoing={row.outgoing} place={place} />;
  }
}
