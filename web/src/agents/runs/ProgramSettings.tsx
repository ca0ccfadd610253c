import type { KnownProgram, ProgramList } from "../../api/programs";
import { SuggestField } from "../../ui/SuggestField";
import { Switch } from "../../ui/Switch";
import { SelectField, TextField, fieldError } from "../../ui/TextField";
import { MoreSettings } from "./MoreSettings";
import { ShowCommand } from "./ShowCommand";
import { WorkspaceFields } from "./WorkspaceFields";
import { DEFAULT_TIMEOUT, type Tools } from "./form";
import { type Program, cardOf } from "./programs";
import type { RunEdits } from "./useRunForm";

export const TOOLS: Record<Tools, { label: string; hint: string }> = {
  hub: { label: "Stoa only", hint: "Uses only Stoa's tools. If Stoa crashes before the run has written anything, the run is repeated." },
  files: { label: "Stoa and files", hint: "Can also change files. Not repeated if Stoa crashes during the run." },
  shell: { label: "Stoa, files and a shell", hint: "Can also run commands. Not repeated if Stoa crashes during the run." },
};

/** Codex has no run without a shell; Stoa can only take writing away from it. */
const CODEX_HUB = "Uses Stoa's tools. Codex keeps its shell, which can only read.";

interface ProgramSettingsProps {
  agent: string;
  program: Program;
  known: KnownProgram | undefined;
  /** What the operator allows as workspaces; undefined until the hub has said it. */
  folders: ProgramList | undefined;
  edits: RunEdits;
}

/** How the chosen card runs: its model, its limits and what it may use. */
export function ProgramSettings({ agent, program, known, folders, edits }: ProgramSettingsProps) {
  const { form, errors, set } = edits;
  const said = (field: string) => fieldError(edits.error, field);
  const can = cardOf(program);
  return (
    <section aria-label={`Settings of ${can.label}`} className="flex min-w-0 flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <SuggestField
          label="Model"
          hint={`Choose one or type another. Empty = its default.${can.cost ? "" : " Choose one to see what runs cost."}`}
          error={said("harness.model")}
          value={form.model}
          suggestions={known?.models ?? []}
          placeholder="Default"
          onChange={(value) => set("model", value)}
        />
        <ToolsField edits={edits} hint={program === "codex" && form.tools === "hub" ? CODEX_HUB : undefined} />
        <TimeField edits={edits} />
        {can.turns ? (
          <TextField
            label="Turns per run"
            hint="A run ends after so many answers of the model. Empty = no limit."
            error={errors.turns ?? said("harness.max_turns")}
            inputMode="numeric"
            value={form.turns}
            placeholder="No limit"
            onChange={(value) => set("turns", value)}
          />
        ) : null}
        {can.cost ? (
          <TextField
            label="Cost per run, in dollars"
            hint="A run ends when it has cost this much. Empty = no limit."
            error={errors.runCost ?? said("harness.max_cost_usd")}
            inputMode="decimal"
            value={form.runCost}
            placeholder="No limit"
            onChange={(value) => set("runCost", value)}
          />
        ) : null}
      </div>
      <WorkspaceFields edits={edits} program={program} folders={folders} />
      {can.resume ? (
        <Switch
          label="Continue sessions"
          hint="A new message in the same conversation continues where the last run ended."
          isOn={form.resume}
          onChange={(isOn) => set("resume", isOn)}
        />
      ) : null}
      {known ? <ShowCommand agent={agent} known={known} form={form} /> : null}
      <MoreSettings edits={edits} program={program} />
    </section>
  );
}

export function ToolsField({ edits: { form, set }, hint }: { edits: RunEdits; hint?: string }) {
  return (
    <SelectField label="Tools" hint={hint ?? TOOLS[form.tools].hint} value={form.tools} onChange={(value) => set("tools", value as Tools)}>
      {Object.entries(TOOLS).map(([name, { label }]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </SelectField>
  );
}

export function TimeField({ edits, hint }: { edits: RunEdits; hint?: string }) {
  return (
    <TextField
      label="Time limit, in seconds"
      hint={hint ?? `Longer runs are stopped. Default: ${DEFAULT_TIMEOUT}.`}
      error={edits.errors.timeout ?? fieldError(edits.error, "harness.timeout_seconds")}
      inputMode="numeric"
      value={edits.form.timeout}
      placeholder={String(DEFAULT_TIMEOUT)}
      onChange={(value) => edits.set("timeout", value)}
    />
  );
}
