import { useImperativeHandle } from "react";

import type { VirtualListProps } from "./VirtualList";
import { useVirtualList } from "./useVirtualList";

/** A list of which only the rows about in sight are drawn. */
export default function Long<Row>({ rows, keyOf, size, className, rowClass, overscan, showRow, children }: VirtualListProps<Row>) {
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
