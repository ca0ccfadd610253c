import { useQuery } from "@tanstack/react-query";

import { meQuery } from "../../api/queries";
import type { ActionStats } from "../../api/traces";
import { Button } from "../../ui/Button";
import { MomentField } from "../../ui/MomentField";
import { SelectField } from "../../ui/TextField";
import type { TraceSearch } from "./search";

const SPANS = [
  { label: "Hour", hours: 1 },
  { label: "Day", hours: 24 },
  { label: "Week", hours: 168 },
];

/** The filter of the traces. The address keeps it. */
export function TraceFilters({ search, stats, onChange }: {
  search: TraceSearch;
  stats: ActionStats[];
  onChange: (change: Partial<TraceSearch>) => void;
}) {
  const agents = useQuery(meQuery).data?.agents.map((agent) => agent.name) ?? [];
  const actions = stats.map((one) => one.action).sort();
  // A value in the address stays in the list, even if no trace has it.
  const withChosen = (list: string[], chosen: string | undefined) => (chosen && !list.includes(chosen) ? [chosen, ...list] : list);
  return (
    <form
      aria-label="Filter"
      className="grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] items-end gap-3 px-6 pt-4 max-md:px-4"
      onSubmit={(event) => event.preventDefault()}
    >
      <SelectField label="Agent" value={search.agent ?? ""} onChange={(agent) => onChange({ agent: agent || undefined })}>
        <option value="">You and your agents</option>
        {withChosen(agents, search.agent).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField label="Action" value={search.action ?? ""} onChange={(action) => onChange({ action: action || undefined })}>
        <option value="">Any</option>
        {withChosen(actions, search.action).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <MomentField label="Since" value={search.since} onChange={(since) => onChange({ since })} />
      <MomentField label="Until" value={search.until} onChange={(until) => onChange({ until })} />
      <div className="col-span-full flex flex-wrap gap-1" role="group" aria-label="The last">
        {SPANS.map((span) => (
          <Button
            key={span.label}
            size="form"
            className="px-3!"
            aria-label={`The last ${span.label.toLowerCase()}`}
            onClick={() => onChange({ since: new Date(Date.now() - span.hours * 3_600_000).toISOString(), until: undefined })}
          >
            {span.label}
          </Button>
        ))}
        <Button size="form" look="plain" className="px-3!" onClick={() => onChange({ agent: undefined, action: undefined, since: undefined, until: undefined })}>
          Clear
        </Button>
      </div>
    </form>
  );
}
