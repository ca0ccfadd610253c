import type { ReactNode } from "react";

import { classes } from "./classes";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Aligned to the right, for numbers and actions. */
  isEnd?: boolean;
  /** The title is for whoever cannot see it. */
  isTitleHidden?: boolean;
  /** Left out where there is little room. */
  isWideOnly?: boolean;
}

interface DataTableProps<Row> {
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
                )}
              >
                {column.isTitleHidden ? <span className="sr-only">{column.title}</span> : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              aria-current={isCurrent?.(row) ? "true" : undefined}
              onClick={onRow ? () => onRow(row) : undefined}
              className={classes(
                "border-b border-line align-middle",
                onRow && "cursor-pointer hover:bg-panel",
                "aria-[current=true]:bg-selected",
              )}
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
          ))}
        </tbody>
      </table>
    </div>
  );
}
