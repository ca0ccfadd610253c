import { Terminal } from "lucide-react";

import type { Agent } from "../../api/types";
import { Field, INPUT } from "../../ui/Field";
import { SelectField, TextField, fieldError } from "../../ui/TextField";
import { EnvironmentFields } from "./EnvironmentFields";
import { shellWords, splitWords } from "./commandLine";
import { DEFAULT_TIMEOUT, type Tools } from "./form";
import type { RunEdits } from "./useRunForm";

const TOOLS: Record<Tools, { label: string; hint: string }> = {
  hub: { label: "Stoa only", hint: "Uses only Stoa's tools. If Stoa crashes before the run has written anything, the run is repeated." },
  files: { label: "Stoa and files", hint: "Can also change files. Not repeated if Stoa crashes during the run." },
  shell: { label: "Stoa, files and commands", hint: "Can also run commands. Not repeated if Stoa crashes during the run." },
};

/** The program on the hub's machine that a run starts. */
export function CommandCard({ agent, edits }: { agent: Agent; edits: RunEdits }) {
  const { form, errors, set } = edits;
  const { words = [] } = splitWords(form.command);
  const strange = shellWords(words);
  const said = (field: string) => fieldError(edits.error, field);
  const other = agent.harness && agent.harness.backend !== "subprocess" ? agent.harness.backend : null;
  return (
    <section aria-label="My command" className="flex flex-col gap-4 rounded-lg border border-line p-4">
      <div className="flex items-center gap-2">
        <Terminal size={16} aria-hidden="true" className="text-muted" />
        <h3 className="font-semibold">My command</h3>
        <span className="text-muted">runs on the server</span>
      </div>
      {other ? (
        <p className="text-amber">This agent is set up for the backend “{other}”, which is not supported yet. Saving a command replaces that setup.</p>
      ) : null}
      <TextField
        label="Command"
        hint="Executable and arguments, started without a shell. Quote arguments that contain spaces."
        error={errors.command ?? said("harness.command") ?? said("harness")}
        value={form.command}
        onChange={(value) => set("command", value)}
        placeholder="/usr/local/bin/my-agent --quiet"
        spellCheck={false}
        autoComplete="off"
      />
      {words.length ? (
        <ol aria-label="Command arguments" className="flex flex-wrap gap-1">
          {words.map((word, at) => (
            <li key={at} className="max-w-full overflow-clip rounded-sm border border-line bg-panel px-1.5 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
              {word || "(empty)"}
            </li>
          ))}
        </ol>
      ) : null}
      {strange.length ? (
        <p className="text-amber">There is no shell, so {strange.join(" ")} is passed unchanged. Put pipes and variables into a script.</p>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Time limit, in seconds"
          hint={`Longer runs are stopped. Default: ${DEFAULT_TIMEOUT}.`}
          error={errors.timeout ?? said("harness.timeout_seconds")}
          inputMode="numeric"
          value={form.timeout}
          placeholder={String(DEFAULT_TIMEOUT)}
          onChange={(value) => set("timeout", value)}
        />
        <SelectField label="Tools" hint={TOOLS[form.tools].hint} value={form.tools} onChange={(value) => set("tools", value as Tools)}>
          {Object.entries(TOOLS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </SelectField>
      </div>
      <EnvironmentFields edits={edits} />
      <Field
        label="Prompt template"
        hint={
          <>
            Input of the command. Empty = Stoa's default. Available placeholders: <code className="font-mono">{"{{messages}}"}</code>, <code className="font-mono">{"{{thread}}"}</code>,{" "}
            <code className="font-mono">{"{{instructions}}"}</code>, <code className="font-mono">{"{{agent.name}}"}</code> and more.
          </>
        }
        error={said("harness.prompt_template")}
      >
        {(wiring) => (
          <textarea
            {...wiring}
            rows={4}
            spellCheck={false}
            value={form.template}
            onChange={(event) => set("template", event.target.value)}
            className={`${INPUT} h-auto! py-2 font-mono text-sm`}
          />
        )}
      </Field>
    </section>
  );
}
