import { useQuery } from "@tanstack/react-query";

import { meQuery } from "../../api/queries";
import { Button } from "../../ui/Button";
import { SelectField } from "../../ui/TextField";
import { type Counts, GROUPS, GROUP_NAMES, countIn, groupIn } from "./filter";
import type { RunSearch } from "./search";

/** The filter of the runs. The address keeps it. */
export function RunFilters({ search, counts, onChange }: {
  search: RunSearch;
  counts: Counts | undefined;
  onChange: (change: Partial<RunSearch>) => void;
}) {
  const own = useQuery(meQuery).data?.agents.map((agent) => agent.name) ?? [];
  // A value in the address stays in the list, even if there is no such agent.
  const agents = search.agent && !own.includes(search.agent) ? [search.agent, ...own] : own;
  const chosen = groupIn(search);
  return (
    <form aria-label="Filter" className="flex flex-wrap items-end gap-3 px-6 py-4 max-md:px-4" onSubmit={(event) => event.preventDefault()}>
      <div role="group" aria-label="Status" className="flex flex-wrap gap-1">
        {[undefined, ...GROUP_NAMES].map((group) => {
          const count = group && counts ? countIn(group, counts) : 0;
          return (
            <Button
              key={group ?? ""}
              size="form"
              aria-pressed={chosen === group}
              className="px-3! aria-pressed:border-accent aria-pressed:bg-selected"
              onClick={() => onChange({ status: group })}
            >
              {group ? GROUPS[group].label : "All"}
              {count && group !== "succeeded" ? <span className="text-muted tabular-nums">{count.toLocaleString()}</span> : null}
            </Button>
          );
        })}
      </div>
      <div className="w-44">
        <SelectField label="Agent" value={search.agent ?? ""} onChange={(agent) => onChange({ agent: agent || undefined })}>
          <option value="">All agents</option>
          {agents.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      </div>
    </form>
  );
}
