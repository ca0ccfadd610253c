import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { afterPaint } from "../lib/afterPaint";
import { useStore } from "../lib/store";
import { link } from "../live/link";
import { goalOf } from "./opening";
import type { Row } from "./rows";

/** Closer than this to an edge, more messages are loaded. */
const NEAR = 400;
/** Closer than this to the end, the person counts as being there. */
const AT_END = 80;

interface Scrolling {
  box: RefObject<HTMLDivElement | null>;
  virtual: Virtualizer<HTMLDivElement, Element>;
  rows: Row[];
  /** The message to show in the middle. */
  at: number | undefined;
  /** Messages after these are not loaded. */
  isPart: boolean;
  load: (direction: "older" | "newer") => Promise<void>;
  /** How many messages of the person are not sent yet. */
  waiting: number;
  /** Forgets which message was requested. */
  onLeave: (() => void) | undefined;
}

/** Scrolls to where a conversation opens, loads more near its edges, and knows whether its end is visible. */
export function useScrolling({ box, virtual, rows, at, isPart, load, waiting, onLeave }: Scrolling) {
  const [isAtEnd, setAtEnd] = useState(() => !isPart && goalOf(rows, at)?.align === "end");
  const arrived = useRef<string | null>(null);
  // More messages may arrive on the way to the end. The way is over when the last one is visible.
  const isOnTheWay = useRef(false);
  const isLeaving = useRef(false);
  // Where nothing is to be scrolled, nothing else looks at what is in sight.
  const look = useRef(() => undefined as void);
  useEffect(() => {
    const wanted = String(at ?? "");
    if (rows.length === 0 || (arrived.current === wanted && !isOnTheWay.current && !isLeaving.current)) return;
    const isToEnd = isOnTheWay.current || (isLeaving.current && at === undefined);
    const goal = isToEnd ? { index: rows.length - 1, align: "end" as const } : goalOf(rows, at);
    if (!goal) return;
    isLeaving.current = false;
    arrived.current = wanted;
    isOnTheWay.current = goal.align === "end";
    virtual.scrollToIndex(goal.index, { align: goal.align });
    afterPaint(look.current);
  }, [rows, at, virtual]);

  const shown = useRef(rows);
  shown.current = rows;
  // What grows below the list, like the message field, must not cover its last message.
  const wasAtEnd = useRef(isAtEnd);
  wasAtEnd.current = isAtEnd;
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let height = element.clientHeight;
    const watched = new ResizeObserver(() => {
      const lost = height - element.clientHeight;
      height = element.clientHeight;
      if (lost > 0 && wasAtEnd.current) virtual.scrollToIndex(shown.current.length - 1, { align: "end" });
    });
    watched.observe(element);
    return () => watched.disconnect();
  }, [box, virtual]);

  const [inSight, setInSight] = useState<number | null>(null);
  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const bottom = element.scrollTop + element.clientHeight;
    const lines = virtual.getVirtualItems().filter(({ end }) => end <= bottom).map(({ index }) => shown.current[index]);
    const line = lines.findLast((row) => row?.kind === "message");
    setInSight(line?.kind === "message" ? line.message.id : null);
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (element.scrollTop < NEAR) void load("older");
    if (below < NEAR) void load("newer");
    if (below < 5) isOnTheWay.current = false;
    setAtEnd(below < AT_END && !isPart);
  }, [box, virtual, load, isPart]);

  look.current = onScroll;

  // At the edge no scrolling happens, so a failed load is retried when the connection is back.
  const isLive = useStore(link, (now) => now === "live");
  useEffect(() => {
    if (isLive) onScroll();
  }, [isLive, onScroll]);

  const leave = useCallback(() => {
    isLeaving.current = true;
    onLeave?.();
  }, [onLeave]);
  // A new message of the person leads to the end, where it is shown. Those that failed to send before do not.
  const waitingBefore = useRef(waiting);
  useEffect(() => {
    if (isPart && waiting > waitingBefore.current) leave();
    waitingBefore.current = waiting;
  }, [isPart, waiting, leave]);
  const stay = () => {
    isOnTheWay.current = false;
    onScroll();
  };
  const goToEnd = () => {
    if (isPart) leave();
    else virtual.scrollToIndex(rows.length - 1, { align: "end" });
  };
  return { isAtEnd, inSight, onScroll, stay, goToEnd };
}
