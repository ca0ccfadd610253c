import { Suspense, lazy } from "react";

import { DataTable, type DataTableProps } from "./DataTable";
import { FEW } from "./VirtualList";

const LongRows = lazy(() => import("./LongRows")) as unknown as typeof import("./LongRows").default;

/**
 * A table that may have very many rows: only those about in sight are drawn. Its columns have widths, so that they stay where they are.
 * Few people have so many rows, so the page loads the code for them when it needs it.
 */
export function LongTable<Row>(props: DataTableProps<Row>) {
  if (props.rows.length <= FEW) return <DataTable {...props} />;
  return (
    <Suspense>
      <LongRows {...props} />
    </Suspense>
  );
}
