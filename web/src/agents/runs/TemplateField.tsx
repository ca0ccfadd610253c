import { Field, INPUT } from "../../ui/Field";
import { fieldError } from "../../ui/TextField";
import type { RunEdits } from "./useRunForm";

/** What the command reads, or the receiver gets. */
export function TemplateField({ edits: { form, error, set } }: { edits: RunEdits }) {
  return (
    <Field
      label="Prompt template"
      hint={
        <>
          {form.adapter === "webhook" ? "The prompt in the request." : "Input of the command."} Empty = Stoa's default. Available placeholders: <code className="font-mono">{"{{messages}}"}</code>, <code className="font-mono">{"{{thread}}"}</code>,{" "}
          <code className="font-mono">{"{{instructions}}"}</code>, <code className="font-mono">{"{{agent.name}}"}</code> and more.
        </>
      }
      error={fieldError(error, "harness.prompt_template")}
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
  );
}
