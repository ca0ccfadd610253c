import { useQuery } from "@tanstack/react-query";

import { reactiveQuery } from "../../api/runs";
import type { Agent } from "../../api/types";
import { Meter } from "../../ui/Meter";
import { TextField, fieldError } from "../../ui/TextField";
import type { RunEdits } from "./useRunForm";

type Limit = "runs" | "others" | "cost" | "cooldown" | "depth" | "exchanges";

/** Each limit, with its name at the hub. */
const LIMITS: ReadonlyArray<{ field: Limit; label: string; hint: string; name: string }> = [
  { field: "runs", label: "Runs per day", hint: "The day ends at 00:00 UTC", name: "budget.runs_per_day" },
  { field: "others", label: "Part for others, in percent", hint: "What runs that others start may use of the runs per day", name: "budget.others_percent" },
  { field: "cost", label: "Cost per day, in dollars", hint: "Empty means no limit. Only costs that the program reports count", name: "budget.cost_usd_per_day" },
  { field: "cooldown", label: "Cooldown, in seconds", hint: "The time between two runs", name: "cooldown_seconds" },
  { field: "depth", label: "Depth", hint: "How many agents in a row may start one another", name: "max_trigger_depth" },
  {
    field: "exchanges",
    label: "Exchanges",
    hint: "How many messages of one agent start it within an hour, unless a person writes in between",
    name: "max_round_trips",
  },
];

/** How often the agent may run. */
export function LimitFields({ agent, edits }: { agent: Agent; edits: RunEdits }) {
  const { form, errors, set } = edits;
  const today = useQuery(reactiveQuery).data?.find((one) => one.agent.name === agent.name)?.runs_today;
  const most = agent.budget.runs_per_day;
  return (
    <div className="grid gap-5 sm:grid-cols-2 lg:grid-cols-3">
      {LIMITS.map(({ field, label, hint, name }) => (
        <div key={field} className="flex flex-col gap-2">
          <TextField
            label={label}
            hint={hint}
            error={errors[field] ?? fieldError(edits.error, name)}
            inputMode={field === "cost" ? "decimal" : "numeric"}
            value={form[field]}
            onChange={(value) => set(field, value)}
          />
          {field === "runs" && today !== undefined ? (
            <>
              <Meter label="Runs today" value={today} max={Math.max(most, 1)} />
              <span className="text-sm text-muted">
                {today.toLocaleString()} of {most.toLocaleString()} today
              </span>
            </>
          ) : null}
        </div>
      ))}
    </div>
  );
}
