import type { ProgramList } from "../../api/programs";
import { CommandField } from "./CommandField";
import { EnvironmentFields } from "./EnvironmentFields";
import { TimeField, ToolsField } from "./ProgramSettings";
import { TemplateField } from "./TemplateField";
import { WorkspaceFields } from "./WorkspaceFields";
import type { Tools } from "./form";
import type { RunEdits } from "./useRunForm";

/** What it uses is its own business. The hub only has to know whether it can start it a second time. */
const OWN_TOOLS: Record<Tools, string> = {
  hub: "Your command changes nothing outside Stoa. If Stoa crashes before the run has written anything, the run is repeated.",
  files: "Your command changes files. Not repeated if Stoa crashes during the run.",
  shell: "Your command runs others. Not repeated if Stoa crashes during the run.",
};

/** A command of the owner's own. */
export function CommandCard({ edits, folders }: { edits: RunEdits; folders: ProgramList | undefined }) {
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
        <ToolsField edits={edits} hint={OWN_TOOLS[edits.form.tools]} />
      </div>
      <WorkspaceFields edits={edits} program="generic" folders={folders} />
      <EnvironmentFields edits={edits} />
      <TemplateField edits={edits} />
    </section>
  );
}
