import { useQuery, useQueryClient } from "@tanstack/react-query";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { Problem } from "../api/problem";
import { type Conversation, PAGE, conversationQuery, fetchMessages, meQuery, messageQuery } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { appearance } from "../lib/appearance";
import { useStore } from "../lib/store";
import { clockTime, dayName } from "../lib/time";
import { merge } from "../live/patch";
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
/** The hub gives no more at a time. */
const MOST_AT_ONCE = 200;

interface MessageListProps {
  place: Place;
  /** A message to show in the middle. */
  at?: number;
  onThread?: (id: number) => void;
}

/** A conversation, newest at the bottom. It stays where it is unless the person is at the end. */
export function MessageList({ place, at, onThread }: MessageListProps) {
  const client = useQueryClient();
  const key = placeKey(place);
  const options = useMemo(() => conversationQuery(place), [key]);
  const query = useQuery(options);
  const me = useQuery(meQuery).data?.user.username;
  const sending = useStore(outgoing);
  const zone = useStore(appearance, (chosen) => chosen.zone);
  const mine = useMemo(() => sending.filter((one) => one.place === key && one.replyTo === null), [sending, key]);
  // The divider stays where it was when the person came, while what they see is marked as read.
  const [divider, setDivider] = useState<{ key: string; after: number | null } | null>(null);
  const lastRead = query.data?.lastRead;
  useEffect(() => {
    if (query.data && divider?.key !== key) setDivider({ key, after: lastRead ?? null });
  }, [query.data, key, divider, lastRead]);

  const rows = useMemo(
    () => rowsOf(query.data?.items ?? [], mine, divider?.key === key ? divider.after : null, me, query.data?.starts),
    // In another time zone, days begin elsewhere.
    [query.data, mine, divider, key, me, zone],
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
  const estimateSize = useCallback((index: number) => (rows[index]?.kind === "message" ? 64 : 32), [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    overscan: 6,
    rangeExtractor,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: 80,
  });

  const [isAtEnd, setAtEnd] = useState(true);
  const [seenLast, setSeenLast] = useState<number | null>(null);
  const last = query.data?.items.at(-1)?.id ?? null;

  // What one asked for may be further up, and may be somewhere else.
  const isThere = at === undefined || (query.data?.items.some((message) => message.id === at) ?? false);
  const wanted = useQuery({ ...messageQuery(at ?? 0), enabled: query.data !== undefined && !isThere });
  const isRefused = wanted.error instanceof Problem && !wanted.error.isPassing;
  const isElsewhere = !isThere && (isRefused || (wanted.data !== undefined && !isIn(wanted.data, place, me)));
  useEffect(() => {
    if (isElsewhere) toast("The message that was asked for is not here.", { isError: true });
  }, [isElsewhere, at]);

  // Comes to the end of a conversation that one opens, or to the message that one asked for.
  const arrived = useRef("");
  useEffect(() => {
    const goal = `${key} ${isElsewhere ? "" : (at ?? "")}`;
    if (!query.data || rows.length === 0 || arrived.current === goal) return;
    const index = at === undefined ? -1 : rows.findIndex((row) => row.kind === "message" && row.message.id === at);
    if (at !== undefined && index < 0 && !isElsewhere) return;
    arrived.current = goal;
    const unread = rows.findIndex((row) => row.kind === "unread");
    if (index >= 0) virtual.scrollToIndex(index, { align: "center" });
    else if (unread >= 0 && rows.length - unread > 12) virtual.scrollToIndex(unread, { align: "start" });
    else virtual.scrollToIndex(rows.length - 1, { align: "end" });
  }, [query.data, rows, key, at, isElsewhere, virtual]);

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
    if (at === undefined || isThere || !wanted.data || isElsewhere || !query.data?.hasOlder) return;
    if ((query.data.items[0]?.id ?? 0) > at) void loadOlder(MOST_AT_ONCE);
  }, [at, isThere, isElsewhere, wanted.data, query.data, loadOlder]);

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
  const missed = query.data?.items.filter((message) => seenLast !== null && message.id > seenLast).length ?? 0;

  const onKeyDown = useMessageKeys({
    messages: query.data?.items ?? [],
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

  // What is there stays there, also while it cannot be loaded again.
  if (query.isError && !query.data) return <Failed error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton />;
  if (rows.length === 0) return (
    <Empty title="Nothing has been said here yet">{place.kind === "dm" && place.as ? null : "Write the first message below."}</Empty>
  );
  return (
    <div className="relative min-h-0 flex-1 pb-2">
      <div
        ref={box}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
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
                <RowView row={row} place={place} at={at} onThread={onThread} />
              </div>
            ) : null;
          })}
        </div>
      </div>
      <Announcer key={key} messages={query.data.items} me={me} isFollowing={isAtEnd} />
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

function RowView({ row, place, at, onThread }: { row: Row; place: Place; at?: number; onThread?: (id: number) => void }) {
  const edited = useStore(editing);
  switch (row.kind) {
    case "day":
      return (
        <div className="flex items-center gap-3 px-6 py-2 text-sm text-muted">
          <span className="h-px flex-1 bg-line" />
          {dayName(row.at)}
          <span className="h-px flex-1 bg-line" />
        </div>
      );
    case "unread":
      return (
        <div className="flex items-center gap-3 px-6 py-1 text-sm text-accent" role="separator">
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
          onThread={onThread}
        />
      );
    case "outgoing":
      return <OutgoingRow outgoing={row.outgoing} place={place} />;
  }
}
