import { Link } from "@tanstack/react-router";

import type { Delivery, Webhook } from "../../api/webhooks";
import { type Column, DataTable } from "../../ui/DataTable";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Answer, StatusBadge } from "./parts";
import type { useDeliveries } from "./useDeliveries";
import { took } from "./words";

const SHOWN = 6;

const COLUMNS: Array<Column<Delivery>> = [
  { title: "Status", cell: (delivery) => <StatusBadge delivery={delivery} /> },
  {
    title: "Event",
    cell: (delivery) => (
      <Link
        to="/deliveries"
        search={{ webhook: delivery.webhook_id, peek: delivery.id }}
        className="inline-flex min-h-6 items-center font-mono text-sm text-accent hover:underline"
      >
        {delivery.event}
      </Link>
    ),
  },
  { title: "Response", isWideOnly: true, cell: (delivery) => <Answer delivery={delivery} /> },
  {
    title: "Time",
    isEnd: true,
    isWideOnly: true,
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last ? took(last.duration_ms) : "";
    },
  },
  { title: "Attempts", isEnd: true, isWideOnly: true, cell: ({ attempts }) => attempts.length },
  { title: "When", isEnd: true, cell: ({ created_at }) => <Time at={created_at} as="age" /> },
];

/** The latest deliveries of a webhook, and the way to all of them. */
export function LastDeliveries({ webhook, latest }: { webhook: Webhook; latest: ReturnType<typeof useDeliveries> }) {
  const items = latest.data?.pages[0]?.items ?? [];
  return (
    <section aria-label="Recent deliveries" className="flex min-w-0 flex-col gap-1 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="flex-1 font-semibold">Recent deliveries</h3>
        <Link to="/deliveries" search={{ webhook: webhook.id }} className="inline-flex min-h-6 items-center text-accent hover:underline">
          All deliveries
        </Link>
      </div>
      {latest.isError ? <Failed error={latest.error} retry={() => void latest.refetch()} /> : null}
      {latest.isLoading ? <Skeleton rows={2} /> : null}
      {latest.data && items.length === 0 ? <p className="text-muted">No deliveries yet. Send a test to see one.</p> : null}
      {items.length > 0 ? (
        <DataTable label="List of recent deliveries" columns={COLUMNS} rows={items.slice(0, SHOWN)} keyOf={({ id }) => id} />
      ) : null}
    </section>
  );
}
