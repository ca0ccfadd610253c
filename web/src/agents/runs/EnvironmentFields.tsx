import { Plus, X } from "lucide-react";

import { Problem } from "../../api/problem";
import { Button, IconButton } from "../../ui/Button";
import { INPUT, Refusal } from "../../ui/Field";
import type { Variable } from "./form";
import type { RunEdits } from "./useRunForm";

/** What the hub says about variables. It names each that it refuses. */
export function refusedVariables(error: unknown) {
  return error instanceof Problem ? error.fields.filter(({ field }) => field.startsWith("harness.env")) : [];
}

/** The variables that the program gets. */
export function EnvironmentFields({ edits: { form, errors, error, set } }: { edits: RunEdits }) {
  const variables = form.environment;
  const change = (index: number, more: Partial<Variable>) =>
    set("environment", variables.map((variable, at) => (at === index ? { ...variable, ...more } : variable)));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 font-medium">Environment variables</legend>
      {variables.map(({ name, value }, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <input
            aria-label={`Name of variable ${index + 1}`}
            value={name}
            onChange={(event) => change(index, { name: event.target.value })}
            placeholder="NAME"
            spellCheck={false}
            autoComplete="off"
            className={`${INPUT} w-44! font-mono text-sm`}
          />
          {/* Not an input: that would take line breaks out of a value that has some. */}
          <textarea
            aria-label={`Value of variable ${index + 1}`}
            value={value}
            rows={1}
            onChange={(event) => change(index, { value: event.target.value })}
            spellCheck={false}
            className={`${INPUT} min-w-32! flex-1 resize-y py-2 font-mono text-sm`}
          />
          <IconButton label={`Remove variable ${index + 1}`} onClick={() => set("environment", variables.filter((_, at) => at !== index))}>
            <X size={16} />
          </IconButton>
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => set("environment", [...variables, { name: "", value: "" }])}>
          <Plus size={14} aria-hidden="true" />
          Add variable
        </Button>
        <span className="text-sm text-muted">Values are stored and shown here in plain text. Ask your operator to store keys and tokens as secrets instead.</span>
      </div>
      {errors.environment ? <Refusal>{errors.environment}</Refusal> : null}
      {refusedVariables(error).map(({ field, message }) => (
        <Refusal key={field}>
          {field.replace("harness.env.", "")} {message}.
        </Refusal>
      ))}
    </fieldset>
  );
}
