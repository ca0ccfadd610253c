import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, useCallback, useLayoutEffect, useRef, useState } from "react";

interface VirtualList<Row> {
  rows: readonly Row[];
  /** About how high a row is until it was seen. */
  size: number | ((row: Row) => number);
  keyOf: (row: Row) => string | number;
  /** How many rows are drawn beyond those in sight. */
  overscan?: number;
}

/**
 * Draws only the rows of a list that are about in sight, within the element around it that scrolls (`data-scroller`). Each row has a
 * `data-index`. The row that has the focus stays in the page however far one scrolls, or the keyboard would lose its place.
 */
export function useVirtualList<Box extends HTMLElement, Row>({ rows, size, keyOf, overscan = 8 }: VirtualList<Row>) {
  const box = useRef<Box>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [margin, setMargin] = useState(0);
  const measure = useCallback(() => {
    const around = box.current?.closest<HTMLElement>("[data-scroller]") ?? null;
    setScroller(around);
    if (!around || !box.current) return;
    setMargin(Math.round(box.current.getBoundingClientRect().top - around.getBoundingClientRect().top + around.scrollTop));
  }, []);
  // What is above the list takes another height where the window is narrower, and when more of it is shown.
  useLayoutEffect(measure);
  useLayoutEffect(() => {
    const around = box.current?.closest("[data-scroller]");
    if (!around) return undefined;
    const watched = new ResizeObserver(measure);
    watched.observe(around);
    for (const other of around.children) watched.observe(other);
    return () => watched.disconnect();
  }, [measure]);
  const focused = useRef<string | number | null>(null);
  const latest = useRef({ rows, size, keyOf });
  latest.current = { rows, size, keyOf };
  const rangeExtractor = useCallback((range: Parameters<typeof defaultRangeExtractor>[0]) => {
    const indexes = defaultRangeExtractor(range);
    const held = focused.current === null ? -1 : latest.current.rows.findIndex((row) => latest.current.keyOf(row) === focused.current);
    return held < 0 || indexes.includes(held) ? indexes : [...indexes, held].sort((one, other) => one - other);
  }, []);
  // New functions would lay out all rows again at each step of scrolling.
  const estimateSize = useCallback((index: number) => {
    const { size } = latest.current;
    return typeof size === "number" ? size : size(rows[index]!);
  }, [rows]);
  const getItemKey = useCallback((index: number) => latest.current.keyOf(rows[index]!), [rows]);
  const virtual = useVirtualizer<HTMLElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize,
    getItemKey,
    overscan,
    scrollMargin: margin,
    rangeExtractor,
    // The first rows are there before anything is measured.
    initialRect: { width: 0, height: 800 },
  });
  const onFocus = (event: FocusEvent) => {
    const row = rows[Number(event.target.closest<HTMLElement>("[data-index]")?.dataset["index"])];
    focused.current = row === undefined ? null : keyOf(row);
  };
  const onBlur = () => {
    focused.current = null;
  };
  return { box, virtual, margin, onFocus, onBlur };
}
