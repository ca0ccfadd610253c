import { DELIVERY_STATUSES, STATUSES } from "../../agents/webhooks/words";
import type { Webhook } from "../../api/webhooks";
import { Button } from "../../ui/Button";
import { countIn } from "./filter";
import type { DeliverySearch } from "./search";

/** Chooses one status or all, and clears the filter. */
export function StatusChoice({ search, webhooks, onChange }: {
  search: DeliverySearch;
  webhooks: readonly Webhook[];
  onChange: (change: Partial<DeliverySearch>) => void;
}) {
  const chosen = webhooks.filter(({ id }) => search.webhook === undefined || id === search.webhook);
  const { peek: _, ...filter } = search;
  return (
    <div className="col-span-full flex flex-wrap gap-1">
      <div role="group" aria-label="Status" className="flex flex-wrap gap-1">
        {[undefined, ...DELIVERY_STATUSES].map((status) => {
          const count = status ? countIn(status, chosen) : 0;
          return (
            <Button key={status ?? ""} aria-pressed={search.status === status} className="aria-pressed:border-accent aria-pressed:bg-selected" onClick={() => onChange({ status })}>
              {status ? STATUSES[status].word : "All"}
              {count ? <span className="text-muted tabular-nums">{count.toLocaleString()}</span> : null}
            </Button>
          );
        })}
      </div>
      {Object.values(filter).some((value) => value !== undefined) ? (
        <Button
          look="plain"
          onClick={() => onChange({ agent: undefined, webhook: undefined, status: undefined, event: undefined, since: undefined, until: undefined })}
        >
          Clear
        </Button>
      ) : null}
    </div>
  );
}
