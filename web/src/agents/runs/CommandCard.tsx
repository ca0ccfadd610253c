import { CommandField } from "./CommandField";
import { EnvironmentFields } from "./EnvironmentFields";
import { TimeField, ToolsField } from "./ProgramSettings";
import { TemplateField } from "./TemplateField";
import { WorkspaceFields } from "./WorkspaceFields";
import type { RunEdits } from "./useRunForm";

/** A command of the owner's own. */
export function CommandCard({ edits, folders }: { edits: RunEdits; folders: readonly string[] | undefined }) {
  return (
    <section aria-label="My command" className="flex min-w-0 flex-col gap-4">
      <CommandField
        edits={edits}
        label="Command"
        hint="Executable and arguments, started without a shell. Quote arguments that contain spaces."
        placeholder="/usr/local/bin/my-agent --quiet"
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TimeField edits={edits} />
        <ToolsField edits={edits} />
      </div>
      <WorkspaceFields edits={edits} program="generic" folders={folders} />
      <EnvironmentFields edits={edits} />
      <TemplateField edits={edits} />
    </section>
  );
}
