import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { afterPaint } from "../lib/afterPaint";
import { offsetOf, sizeOf } from "./opening";
import type { Row } from "./rows";

/** Rows that are drawn above and below the visible ones. */
const OVERSCAN = 6;

interface VirtualRows {
  rows: Row[];
  box: RefObject<HTMLDivElement | null>;
  /** The message to show in the middle. */
  at: number | undefined;
  /** Messages after these are not loaded. */
  isPart: boolean;
}

/** Draws only the rows in sight. `focused` holds the key of the row that must stay in the page. */
export function useVirtualRows({ rows, box, at, isPart }: VirtualRows) {
  // The focused message stays in the page however far the person scrolls, or the keyboard would lose its place.
  const focused = useRef<string | null>(null);
  const shown = useRef(rows);
  shown.current = rows;
  const rangeExtractor = useCallback((range: Parameters<typeof defaultRangeExtractor>[0]) => {
    const indexes = defaultRangeExtractor(range);
    const held = focused.current === null ? -1 : shown.current.findIndex((row) => row.key === focused.current);
    return held < 0 || indexes.includes(held) ? indexes : [...indexes, held].sort((one, other) => one - other);
  }, []);
  // New functions would lay out all rows again at each step of scrolling.
  const estimateSize = useCallback((index: number) => sizeOf(rows[index]), [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  // Rows out of sight are drawn after the visible ones.
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
    followOnAppend: !isPart,
    scrollEndThreshold: 80,
  });
  return { virtual, focused };
}
