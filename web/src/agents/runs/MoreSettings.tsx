import { useState } from "react";

import { CommandField } from "./CommandField";
import { EnvironmentFields, refusedVariables } from "./EnvironmentFields";
import { TemplateField } from "./TemplateField";
import { type Program, cardOf } from "./programs";
import type { RunEdits } from "./useRunForm";

/** What few people set: another path, variables and the prompt. Open if something of it is set or wrong. */
export function MoreSettings({ edits, program }: { edits: RunEdits; program: Program }) {
  const { form, errors, error } = edits;
  const [isOpen, setOpen] = useState(Boolean(form.command || form.environment.length || form.template));
  const isWrong = Boolean(errors.command || errors.environment || refusedVariables(error).length);
  const { label } = cardOf(program);
  return (
    <details open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">More settings</summary>
      <div className="mt-2 flex flex-col gap-4">
        <CommandField
          edits={edits}
          label="Executable"
          hint={`Empty = ${label} as it is found on the server. Otherwise its path, and options that come before those of Stoa.`}
          placeholder="/opt/tools/bin/agent --debug"
        />
        <EnvironmentFields edits={edits} />
        <TemplateField edits={edits} />
      </div>
    </details>
  );
}
