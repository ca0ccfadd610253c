import { type ReactNode, type Ref, useImperativeHandle } from "react";

import { FEW, useVirtualList } from "./useVirtualList";

interface VirtualListProps<Row> {
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** About how high a row is. */
  size: number | ((row: Row) => number);
  className?: string;
  rowClass?: string;
  /** Draws only what is in sight, however few rows there are. */
  isLong?: boolean;
  overscan?: number;
  /** Brings a row into the page. */
  showRow?: Ref<(index: number) => void>;
  children: (row: Row, index: number) => ReactNode;
}

/** A list that may be very long: only the rows about in sight are drawn. */
export function VirtualList<Row>(props: VirtualListProps<Row>) {
  const { rows, keyOf, className, rowClass, children, isLong } = props;
  if (isLong || rows.length > FEW) return <Long {...props} />;
  return (
    <ul className={className}>
      {rows.map((row, index) => (
        <li key={keyOf(row)} className={rowClass}>
          {children(row, index)}
        </li>
      ))}
    </ul>
  );
}

function Long<Row>({ rows, keyOf, size, className, rowClass, overscan, showRow, children }: VirtualListProps<Row>) {
  const { box, virtual, margin, onFocus, onBlur } = useVirtualList<HTMLUListElement, Row>({ rows, keyOf, size, overscan });
  useImperativeHandle(showRow, () => (index: number) => virtual.scrollToIndex(index, { align: "auto" }), [virtual]);
  return (
    <ul ref={box} onFocus={onFocus} onBlur={onBlur} className={className} style={{ position: "relative", height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => (
        <li
          key={item.key}
          ref={virtual.measureElement}
          data-index={item.index}
          aria-setsize={rows.length}
          aria-posinset={item.index + 1}
          className={rowClass}
          style={{ position: "absolute", top: 0, left: 0, width: "100%", transform: `translateY(${item.start - margin}px)` }}
        >
          {children(rows[item.index]!, item.index)}
        </li>
      ))}
    </ul>
  );
}
