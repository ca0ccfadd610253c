import { useQuery } from "@tanstack/react-query";

import { DELIVERY_EVENTS, shortAddress } from "../../agents/webhooks/words";
import { meQuery } from "../../api/queries";
import type { Webhook } from "../../api/webhooks";
import { briefOf } from "../../lib/cut";
import { MomentField } from "../../ui/MomentField";
import { SelectField } from "../../ui/TextField";
import { StatusChoice } from "./StatusChoice";
import type { DeliverySearch } from "./search";

const MOST_OF_URL = 60;

/** The filter of the deliveries. The address keeps it. */
export function DeliveryFilters({ search, webhooks, onChange }: {
  search: DeliverySearch;
  webhooks: readonly Webhook[];
  onChange: (change: Partial<DeliverySearch>) => void;
}) {
  const own = useQuery(meQuery).data?.agents.map((agent) => agent.name) ?? [];
  // A value in the address stays in the list, even if there is no such agent.
  const agents = search.agent && !own.includes(search.agent) ? [search.agent, ...own] : own;
  const shown = webhooks.filter(({ agent }) => !search.agent || agent === search.agent);
  return (
    <form
      aria-label="Filter"
      className="grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] items-end gap-3 px-6 py-4 max-md:px-4 max-sm:grid-cols-2"
      onSubmit={(event) => event.preventDefault()}
    >
      <StatusChoice search={search} webhooks={shown} onChange={onChange} />
      <SelectField label="Agent" value={search.agent ?? ""} onChange={(agent) => onChange({ agent: agent || undefined, webhook: undefined })}>
        <option value="">All agents</option>
        {agents.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField
        label="Webhook"
        value={search.webhook === undefined ? "" : String(search.webhook)}
        onChange={(id) => onChange({ webhook: id === "" ? undefined : Number(id) })}
      >
        <option value="">All webhooks</option>
        {search.webhook !== undefined && !shown.some(({ id }) => id === search.webhook) ? (
          <option value={search.webhook}>Webhook {search.webhook}</option>
        ) : null}
        {shown.map(({ id, agent, url }) => (
          <option key={id} value={id}>
            {briefOf(`@${agent} ${shortAddress(url)}`, MOST_OF_URL)}
          </option>
        ))}
      </SelectField>
      <SelectField label="Event" value={search.event ?? ""} onChange={(event) => onChange({ event: event || undefined })}>
        <option value="">Any</option>
        {DELIVERY_EVENTS.map((event) => (
          <option key={event}>{event}</option>
        ))}
      </SelectField>
      {/* Half of a phone is too narrow for a moment. */}
      <div className="max-sm:col-span-full">
        <MomentField label="Since" value={search.since} onChange={(since) => onChange({ since })} />
      </div>
      <div className="max-sm:col-span-full">
        <MomentField label="Until" value={search.until} onChange={(until) => onChange({ until })} />
      </div>
    </form>
  );
}
