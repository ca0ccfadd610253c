import { Cells, type DataTableProps, Titles } from "./DataTable";
import { useVirtualList } from "./useVirtualList";

/** About how high a row is until it was seen. */
const ROW = 58;

/** A table of which only the rows about in sight are drawn. */
export default function LongRows<Row>({ label, columns, rows, keyOf, onRow, isCurrent }: DataTableProps<Row>) {
  const { box: body, virtual, margin, onFocus, onBlur } = useVirtualList<HTMLTableSectionElement, Row>({ rows, keyOf, size: ROW });
  const items = virtual.getVirtualItems();
  let end = margin;
  return (
    <div role="region" aria-label={label} tabIndex={0} className="relative min-w-0 overflow-x-auto">
      <table aria-rowcount={rows.length + 1} className="w-full table-fixed border-collapse text-left">
        <Titles columns={columns} />
        <tbody ref={body} onFocus={onFocus} onBlur={onBlur}>
          {items.flatMap((item) => {
            const gap = item.start - end;
            end = item.end;
            return [
              gap > 0 ? <Gap key={`before ${item.key}`} height={gap} /> : null,
              <Cells
                key={item.key}
                ref={virtual.measureElement}
                index={item.index}
                columns={columns}
                row={rows[item.index]!}
                onRow={onRow}
                isCurrent={isCurrent?.(rows[item.index]!)}
              />,
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
