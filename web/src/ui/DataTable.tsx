import type { ReactNode, Ref } from "react";

import { Explained } from "./Explained";
import { classes } from "./classes";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the right, for numbers and actions. */
  isEnd?: boolean;
  /** The title is for whoever cannot see it. */
  isTitleHidden?: boolean;
  /** What the title means, where not everybody knows. */
  about?: string;
  /** How wide it is, as a class. Only tables that draw some of their rows need it: others take the width of what is in them. */
  width?: string;
  /** Left out where there is little room. */
  isWideOnly?: boolean;
}

export interface DataTableProps<Row> {
  label: string;
  columns: ReadonlyArray<Column<Row>>;
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** A click anywhere on the row; the row has a button for the same. */
  onRow?: (row: Row) => void;
  isCurrent?: (row: Row) => boolean;
}

/** Rows and columns. Where they do not fit, the table scrolls, not the page. */
export function DataTable<Row>({ label, columns, rows, keyOf, onRow, isCurrent }: DataTableProps<Row>) {
  return (
    <div role="region" aria-label={label} tabIndex={0} className="relative min-w-0 overflow-x-auto">
      <table className="w-full border-collapse text-left">
        <Titles columns={columns} />
        <tbody>
          {rows.map((row) => (
            <Cells key={keyOf(row)} columns={columns} row={row} onRow={onRow} isCurrent={isCurrent?.(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Titles<Row>({ columns }: { columns: ReadonlyArray<Column<Row>> }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th
            key={column.title}
            scope="col"
            className={classes(
              "border-b border-line px-3 py-2 text-sm font-normal whitespace-nowrap text-muted first:pl-0 last:pr-0 max-sm:px-2 compact:py-1",
              column.isEnd && "text-right",
              column.isWideOnly && "max-sm:hidden",
              column.width,
            )}
          >
            {column.isTitleHidden ? (
              <span className="sr-only">{column.title}</span>
            ) : column.about ? (
              <Explained word={column.title} about={column.about} />
            ) : (
              column.title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export function Cells<Row>({
  columns,
  row,
  onRow,
  isCurrent,
  index,
  ref,
}: {
  columns: ReadonlyArray<Column<Row>>;
  row: Row;
  onRow?: (row: Row) => void;
  isCurrent?: boolean;
  /** Which of all rows it is, where not all of them are drawn. */
  index?: number;
  ref?: Ref<HTMLTableRowElement>;
}) {
  return (
    <tr
      ref={ref}
      data-index={index}
      // The titles are the first row.
      aria-rowindex={index === undefined ? undefined : index + 2}
      aria-current={isCurrent ? "true" : undefined}
      onClick={onRow ? () => onRow(row) : undefined}
      className={classes("border-b border-line align-middle", onRow && "cursor-pointer hover:bg-panel", "aria-[current=true]:bg-selected")}
    >
      {columns.map((column) => (
        <td
          key={column.title}
          className={classes(
            "px-3 py-2 first:pl-0 last:pr-0 max-sm:px-2 compact:py-1",
            column.isEnd && "text-right whitespace-nowrap",
            column.isWideOnly && "max-sm:hidden",
          )}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}
