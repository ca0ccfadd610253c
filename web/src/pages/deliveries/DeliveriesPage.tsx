import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { useState } from "react";

import { useDeliveries } from "../../agents/webhooks/useDeliveries";
import { AgentsNext } from "../../agents/AgentsNext";
import { webhooksQuery } from "../../api/webhooks";
import { Button, IconButton } from "../../ui/Button";
import { LongTable } from "../../ui/LongTable";
import { Page } from "../../ui/Page";
import { ShowOlder } from "../../ui/ShowOlder";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { OperateTabs } from "../operate/OperateTabs";
import { DeliveryFilters } from "./DeliveryFilters";
import { DeliveryPane } from "./DeliveryPane";
import { RetryAllDialog } from "./RetryAllDialog";
import { deliveryColumns } from "./deliveryColumns";
import { countIn, filterOf } from "./filter";
import type { DeliverySearch } from "./search";
import { usePeek } from "./usePeek";

const route = getRouteApi("/deliveries");

/** Deliveries to the webhooks of the person's agents. */
export function DeliveriesPage() {
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const webhooks = useQuery(webhooksQuery());
  const list = useDeliveries(filter, webhooks.data);
  const [isRetrying, setRetrying] = useState(false);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const loadOlder = list.hasNextPage ? async () => (await list.fetchNextPage()).data?.pages.flatMap((page) => page.items) ?? [] : null;
  const { peek, close, step, hasNewer, hasOlder, onKeyDown } = usePeek(items, loadOlder);
  const chosen = (webhooks.data ?? []).filter(
    ({ id, agent }) => (filter.webhook === undefined || id === filter.webhook) && (!filter.agent || agent === filter.agent),
  );
  const dead = countIn("dead", chosen);
  const narrow = (change: Partial<DeliverySearch>) => void navigate({ search: (now) => ({ ...now, ...change, peek: undefined }) });
  const hasFilter = Object.keys(filter).length > 0;
  return (
    // The keys work wherever the focus is on the page.
    <div className="flex min-w-0 flex-1" onKeyDown={onKeyDown}>
      <Page
        title="Deliveries"
        subtitle="Requests sent to webhooks"
        tabs={<OperateTabs />}
        actions={
          <>
            <Button disabled={dead === 0} onClick={() => setRetrying(true)}>
              Retry all{dead ? ` ${dead.toLocaleString()}` : ""}
            </Button>
            <IconButton label="Refresh" onClick={() => void client.invalidateQueries({ queryKey: ["webhooks"] })}>
              <RotateCw size={16} />
            </IconButton>
          </>
        }
      >
        <DeliveryFilters search={search} webhooks={webhooks.data ?? []} onChange={narrow} />
        {list.isError && !list.data ? <Failed error={list.error} retry={() => void list.refetch()} /> : null}
        {list.isLoading ? <Skeleton /> : null}
        {list.data && items.length === 0 ? (
          hasFilter ? (
            <Empty title="No matching deliveries">
              <Button onClick={() => void navigate({ search: {} })}>Clear filter</Button>
            </Empty>
          ) : (
            <Empty title="No deliveries yet">
              <p>Requests that Stoa sends to your agents' webhooks appear here. Add a webhook in the Webhooks tab of an agent.</p>
              <AgentsNext />
            </Empty>
          )
        ) : null}
        {items.length > 0 ? (
          <div className="flex flex-col gap-3 px-6 pb-6 max-md:px-4">
            <LongTable
              label="Deliveries"
              columns={deliveryColumns(peek)}
              rows={items}
              keyOf={(delivery) => delivery.id}
              onRow={peek}
              isCurrent={(delivery) => delivery.id === search.peek}
            />
            <ShowOlder list={list} />
          </div>
        ) : null}
      </Page>
      {search.peek === undefined ? null : (
        <DeliveryPane id={search.peek} webhooks={webhooks.data ?? []} onStep={step} hasPrevious={hasNewer} hasNext={hasOlder} onClose={close} />
      )}
      {isRetrying ? <RetryAllDialog webhooks={chosen} since={filter.since} onClose={() => setRetrying(false)} /> : null}
    </div>
  );
}
