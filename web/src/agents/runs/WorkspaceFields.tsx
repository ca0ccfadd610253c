import type { ProgramList } from "../../api/programs";
import type { Workspace } from "../../api/workspace";
import { Choice } from "../../ui/Choice";
import { SuggestField } from "../../ui/SuggestField";
import { fieldError } from "../../ui/TextField";
import type { Program } from "./programs";
import type { RunEdits } from "./useRunForm";
import { NO_FOLDERS, WORKSPACES, toolsFault } from "./workspaceWords";

interface WorkspaceFieldsProps {
  edits: RunEdits;
  program: Program;
  /** What the operator allows; undefined until the hub has said it. */
  folders: ProgramList | undefined;
}

/** Where runs work: in an empty folder, in a folder of the server, or in copies of a repository. */
export function WorkspaceFields({ edits, program, folders }: WorkspaceFieldsProps) {
  const { form, error, set } = edits;
  const kind = form.workspace;
  const isRefused = folders?.workspaces.length === 0;
  const fault = toolsFault(program, form.tools, kind);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Choice
        label="Workspace"
        hint={
          <>
            {WORKSPACES[kind].about}
            {isRefused ? <span className="block">{NO_FOLDERS}</span> : null}
          </>
        }
        value={kind}
        options={(Object.keys(WORKSPACES) as Workspace["kind"][]).map((value) => ({
          value,
          label: WORKSPACES[value].label,
          isDisabled: isRefused && value !== "empty" && value !== kind,
        }))}
        onChange={(value) => set("workspace", value)}
      />
      {kind === "empty" ? null : (
        <SuggestField
          label={kind === "git" ? "Repository" : "Folder"}
          hint={`A path on the server, ${folders?.workspaces.length ? `in ${folders.workspaces.join(" or ")}` : "in a folder that the operator allows"}.`}
          error={fieldError(error, "harness.workspace.path") ?? fieldError(error, "harness.workspace")}
          value={form.path}
          suggestions={(kind === "git" ? folders?.repositories : folders?.workspaces) ?? []}
          placeholder="/srv/projects/website"
          onChange={(value) => set("path", value)}
        />
      )}
      {fault ? <p className="text-amber">{fault}</p> : null}
    </div>
  );
}
