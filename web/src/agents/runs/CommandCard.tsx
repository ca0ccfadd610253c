import { Terminal } from "lucide-react";

import type { Agent } from "../../api/types";
import { Field, INPUT } from "../../ui/Field";
import { SelectField, TextField, fieldError } from "../../ui/TextField";
import { EnvironmentFields } from "./EnvironmentFields";
import { shellWords, splitWords } from "./commandLine";
import { DEFAULT_TIMEOUT, type Tools } from "./form";
import type { RunEdits } from "./useRunForm";

const TOOLS: Record<Tools, { label: string; hint: string }> = {
  hub: { label: "Stoa only", hint: "It uses the tools of Stoa and nothing else. If Stoa crashes before the run wrote anything, the run is repeated." },
  files: { label: "Stoa and files", hint: "It also changes files. A run that a crash of Stoa ended is not repeated." },
  shell: { label: "Stoa, files and commands", hint: "It also runs commands. A run that a crash of Stoa ended is not repeated." },
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
        <span className="text-muted">a program on the hub's machine</span>
      </div>
      {other ? (
        <p className="text-amber">The agent has settings for the backend “{other}”, which this hub cannot run yet. A command replaces them when you save.</p>
      ) : null}
      <TextField
        label="Command"
        hint="The program and its arguments. Quotes keep spaces within a word. Stoa starts the program itself, without a shell."
        error={errors.command ?? said("harness.command") ?? said("harness")}
        value={form.command}
        onChange={(value) => set("command", value)}
        placeholder="/usr/local/bin/my-agent --quiet"
        spellCheck={false}
        autoComplete="off"
      />
      {words.length ? (
        <ol aria-label="Words of the command" className="flex flex-wrap gap-1">
          {words.map((word, at) => (
            <li key={at} className="max-w-full overflow-clip rounded-sm border border-line bg-panel px-1.5 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
              {word || "(empty)"}
            </li>
          ))}
        </ol>
      ) : null}
      {strange.length ? (
        <p className="text-amber">The program gets {strange.join(" ")} as it is, because there is no shell. For pipes and variables, put the command into a script.</p>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Time limit, in seconds"
          hint={`A run that takes longer is ended. Empty means ${DEFAULT_TIMEOUT}.`}
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
            What the program reads. Empty means Stoa's own. It can name <code className="font-mono">{"{{messages}}"}</code>, <code className="font-mono">{"{{thread}}"}</code>,{" "}
            <code className="font-mono">{"{{instructions}}"}</code>, <code className="font-mono">{"{{agent.name}}"}</code> and others.
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
