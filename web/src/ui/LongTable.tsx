import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, useState } from "react";

import { Cells, DataTable, type DataTableProps, Titles } from "./DataTable";

/** So many rows are drawn at once without anybody waiting for them. */
const FEW = 60;
/** About how high a row is until it was seen. */
const ROW = 58;
const OVERSCAN = 8;

/** A table that may have very many rows: only those about in sight are drawn. Its columns have widths, so that they stay where they are. */
export function LongTable<Row>(props: DataTableProps<Row>) {
  return props.rows.length > FEW ? <Drawn {...props} /> : <DataTable {...props} />;
}

function Drawn<Row>({ label, columns, rows, keyOf }: DataTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const around = body.current?.closest<HTMLElement>("[data-scroller]") ?? null;
    setScroller(around);
    if (!around || !body.current) return undefined;
    const measure = () => {
      if (body.current) setMargin(body.current.getBoundingClientRect().top - around.getBoundingClientRect().top + around.scrollTop);
    };
    measure();
    // What is above the table takes another height where the window is narrower.
    const watched = new ResizeObserver(measure);
    watched.observe(around);
    return () => watched.disconnect();
  }, []);
  // The row that has the focus stays in the page however far one scrolls, or the keyboard would lose its place.
  const focused = useRef<string | number | null>(null);
  const shown = useRef(rows);
  shown.current = rows;
  const rangeExtractor = useCallback(
    (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const indexes = defaultRangeExtractor(range);
      const held = focused.current === null ? -1 : shown.current.findIndex((row) => keyOf(row) === focused.current);
      return held < 0 || indexes.includes(held) ? indexes : [...indexes, held].sort((one, other) => one - other);
    },
    [keyOf],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => ROW,
    getItemKey: (index) => keyOf(rows[index]!),
    overscan: OVERSCAN,
    scrollMargin: margin,
    rangeExtractor,
    // The first rows are there before anything is measured.
    initialRect: { width: 0, height: 800 },
  });
  const items = virtual.getVirtualItems();
  let end = margin;
  return (
    <div role="region" aria-label={label} tabIndex={0} className="relative min-w-0 overflow-x-auto">
      <table aria-rowcount={rows.length + 1} className="w-full table-fixed border-collapse text-left">
        <Titles columns={columns} />
        <tbody
          ref={body}
          onFocus={(event) => {
            const index = Number(event.target.closest("tr")?.dataset["index"]);
            const row = rows[index];
            focused.current = row === undefined ? null : keyOf(row);
          }}
          onBlur={() => (focused.current = null)}
        >
          {items.flatMap((item) => {
            const gap = item.start - end;
            end = item.end;
            return [
              gap > 0 ? <Gap key={`before ${item.key}`} height={gap} /> : null,
              <Cells key={item.key} ref={virtual.measureElement} index={item.index} columns={columns} row={rows[item.index]!} />,
            ];
          })}
          <Gap height={virtual.getTotalSize() + margin - end} />
        </tbody>
      </table>
    </div>
  );
}

/** The room of rows that are not drawn. One cell is enough: one for all columns would make columns of those that are left out. */
function Gap({ height }: { height: number }) {
  return height > 0 ? (
    <tr aria-hidden="true">
      <td style={{ height }} className="p-0" />
    </tr>
  ) : null;
}
