import type { RevisedAgent, TriggerMode } from "../../api/agents";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { SaveConflict } from "../../ui/SaveConflict";
import { FormError } from "../../ui/TextField";
import { classes } from "../../ui/classes";
import { refusedVariables } from "./EnvironmentFields";
import { LimitFields } from "./LimitFields";
import { ProgramSection } from "./ProgramSection";
import { RecentRuns } from "./RecentRuns";
import { SenderFields } from "./SenderFields";
import { TryIt } from "./TryIt";
import { LABELS } from "./form";
import { useRunForm } from "./useRunForm";

const MODES: Record<TriggerMode, { label: string; hint: string }> = {
  reactive: { label: "Start a run", hint: "Direct messages and mentions start what you choose below." },
  passive: { label: "Wait in the inbox", hint: "A connected client checks the inbox. Stoa starts nothing." },
  disabled: { label: "Off", hint: "Stoa starts nothing. Messages are kept." },
};
/** Where the form shows what the hub says about them. */
const SHOWN = [
  ...["harness", "harness.command", "harness.url", "harness.workspace", "harness.workspace.path", "harness.model", "harness.max_turns", "harness.max_cost_usd"],
  ...["harness.timeout_seconds", "harness.prompt_template", "trigger_allow"],
  ...["budget.runs_per_day", "budget.others_percent", "budget.cost_usd_per_day", "cooldown_seconds", "max_trigger_depth", "max_round_trips"],
];

/** What starts the agent, with what and how often, and what it did. */
export function RunsTab({ revised }: { revised: RevisedAgent }) {
  const { agent } = revised;
  const edits = useRunForm(revised);
  const { form, fields } = edits;
  return (
    <div className="grid gap-8 p-6 max-md:px-4 xl:grid-cols-[minmax(0,1fr)_360px]">
      <form
        aria-label="What starts the agent"
        className="flex min-w-0 flex-col gap-8"
        onSubmit={(event) => {
          event.preventDefault();
          if (edits.canSave) edits.save();
        }}
      >
        <h2 className="sr-only">Runs</h2>
        <p className="text-muted">What starts @{agent.name}, what runs then, how often, and its latest runs.</p>
        <Choice
          label="When a message arrives"
          hint={MODES[form.mode].hint}
          value={form.mode}
          options={(Object.keys(MODES) as TriggerMode[]).map((value) => ({ value, label: MODES[value].label }))}
          onChange={(value) => edits.set("mode", value)}
        />
        {form.mode === "reactive" && (form.adapter === null || (form.adapter === "generic" && !form.command.trim())) ? (
          <p className="text-amber">This agent has no command yet, so its runs would fail. Choose what runs below.</p>
        ) : null}
        <ProgramSection agent={agent} edits={edits} />
        <SenderFields agent={agent.name} edits={edits} />
        <section aria-label="Limits" className="flex flex-col gap-3">
          <h3 className="font-semibold">Limits</h3>
          <LimitFields agent={agent} edits={edits} />
        </section>
        {edits.isConflict ? (
          <SaveConflict
            sentence="Someone else changed this agent while you were editing. Your changes are not saved."
            changes={edits.theirs}
            takeTheirs={edits.discard}
            saveMine={edits.saveOverTheirs}
          />
        ) : (
          <FormError error={edits.error} shown={[...SHOWN, ...refusedVariables(edits.error).map(({ field }) => field)]} />
        )}
        <div
          className={classes(
            "-mx-6 flex flex-wrap items-center gap-2 border-t border-line bg-bg px-6 py-3 max-md:-mx-4 max-md:px-4",
            // In sight while there is something to save.
            fields.length > 0 && "sticky bottom-0",
          )}
        >
          <span className="min-w-40 flex-1 text-muted">
            {fields.length ? `Unsaved: ${fields.map((field) => LABELS[field]).join(", ")}. Changes apply to the next run.` : "All changes saved."}
          </span>
          <Button size="form" disabled={fields.length === 0} onClick={edits.discard}>
            Discard
          </Button>
          <Button type="submit" look="filled" size="form" disabled={!edits.canSave}>
            Save changes
          </Button>
        </div>
      </form>
      <div className="flex min-w-0 flex-col gap-8">
        <TryIt agent={agent.name} hasEdits={fields.length > 0} />
        <RecentRuns agent={agent.name} />
      </div>
    </div>
  );
}
