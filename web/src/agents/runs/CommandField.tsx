import { TextField, fieldError } from "../../ui/TextField";
import { shellWords, splitWords } from "./commandLine";
import type { RunEdits } from "./useRunForm";

/** An executable with its arguments, and how it is split into words. */
export function CommandField({ edits, label, hint, placeholder }: { edits: RunEdits; label: string; hint: string; placeholder: string }) {
  const { form, errors, set } = edits;
  const { words = [] } = splitWords(form.command);
  const strange = shellWords(words);
  const said = (field: string) => fieldError(edits.error, field);
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        error={errors.command ?? said("harness.command") ?? said("harness")}
        value={form.command}
        onChange={(value) => set("command", value)}
        placeholder={placeholder}
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
    </>
  );
}
