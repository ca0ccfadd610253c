import { useQuery } from "@tanstack/react-query";

import { reactiveQuery } from "../../api/runs";
import type { Agent } from "../../api/types";
import { Meter } from "../../ui/Meter";
import { TextField, fieldError } from "../../ui/TextField";
import type { RunEdits } from "./useRunForm";

type Limit = "runs" | "others" | "cost" | "cooldown" | "depth" | "exchanges";

/** Each limit, with its name at the hub. */
const LIMITS: ReadonlyArray<{ field: Limit; label: string; hint: string; name: string }> = [
  { field: "runs", label: "Runs per day", hint: "Resets at 00:00 UTC", name: "budget.runs_per_day" },
  { field: "others", label: "Share for others, in percent", hint: "How much of the daily runs others can use", name: "budget.others_percent" },
  { field: "cost", label: "Cost per day, in dollars", hint: "Empty = no limit. Counts only costs that the command reports", name: "budget.cost_usd_per_day" },
  { field: "cooldown", label: "Rest between runs, in seconds", hint: "The next run starts at the earliest after this time", name: "cooldown_seconds" },
  { field: "depth", label: "Agents in a row", hint: "How many agents may start one another before a person writes (prevents loops)", name: "max_trigger_depth" },
  {
    field: "exchanges",
    label: "Exchanges",
    hint: "Maximum runs per hour from one other agent, until a person writes",
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
