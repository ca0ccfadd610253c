import { type ReactNode, type Ref, Suspense, lazy } from "react";

/** So many rows are drawn at once without anybody waiting for them. */
export const FEW = 60;

const LongList = lazy(() => import("./LongList")) as unknown as typeof import("./LongList").default;

export interface VirtualListProps<Row> {
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

/** A list that may be very long: only the rows about in sight are drawn. Few people have so many, so how it is done is loaded when it is needed. */
export function VirtualList<Row>(props: VirtualListProps<Row>) {
  const { rows, keyOf, className, rowClass, children, isLong } = props;
  const plain = (shown: readonly Row[]) => (
    <ul className={className}>
      {shown.map((row, index) => (
        <li key={keyOf(row)} className={rowClass}>
          {children(row, index)}
        </li>
      ))}
    </ul>
  );
  if (!isLong && rows.length <= FEW) return plain(rows);
  return (
    <Suspense fallback={isLong ? null : plain(rows.slice(0, FEW))}>
      <LongList {...props} />
    </Suspense>
  );
}
