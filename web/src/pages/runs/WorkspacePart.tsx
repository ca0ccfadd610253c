import { Download } from "lucide-react";
import { type ReactNode, useMemo } from "react";

import { type Run, isActive } from "../../api/runs";
import type { RunWorkspace } from "../../api/workspace";
import { Button } from "../../ui/Button";
import { CommandLine } from "../../ui/CommandLine";
import { CopyButton } from "../../ui/CopyField";
import { Facts } from "../../ui/Facts";
import { Shown } from "../../ui/Shown";
import { saveText } from "../../ui/saveText";
import { PatchView } from "./PatchView";
import { filesOf } from "./patch";
import { diffCommand, mergeCommand, shortCommit, sizeWords } from "./patchWords";

const MOST_OF_NAME = 300;

/** Where a run worked, and what it changed there. */
export function WorkspacePart({ run, workspace, isReadOnly }: { run: Run; workspace: RunWorkspace; isReadOnly: boolean }) {
  const isGit = workspace.kind === "git";
  const { branch, base_commit: base, commit, patch } = workspace;
  const command = diffCommand(workspace);
  const merge = mergeCommand(workspace);
  const title = isGit ? "Changes" : "Workspace";
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3 border-t border-line px-6 py-3 max-md:px-4">
      <div className="flex min-h-7 flex-wrap items-center gap-2">
        <h2 className="font-semibold max-sm:flex-1">{title}</h2>
        <span className="flex-1 text-muted max-sm:order-last max-sm:basis-full">{isGit && branch ? sizeWords(workspace) : null}</span>
        {patch ? (
          <Button onClick={() => saveText(`run-${run.id}.patch`, patch)}>
            <Download size={14} aria-hidden="true" />
            Download patch
          </Button>
        ) : null}
      </div>
      <p className="text-muted">{isGit ? gitWords(run, workspace) : folderWords(isReadOnly)}</p>
      <Facts
        items={[
          [isGit ? "Repository" : "Folder", <Name key="path" text={workspace.path} />],
          ...(branch ? [["Branch", <Name key="branch" text={branch} action={<CopyButton text={branch} label="Copy branch" />} />] as const] : []),
          ...(base ? [["Based on", <Name key="base" text={shortCommit(base)} />] as const] : []),
          ...(commit ? [["Commit", <Name key="commit" text={shortCommit(commit)} />] as const] : []),
        ]}
      />
      {command ? <CommandLine does="To look at the changes, run this on the server:" command={command} /> : null}
      {merge ? <CommandLine does="To take them over into the branch that is checked out there:" command={merge} /> : null}
      {workspace.truncated ? <p className="text-amber">The patch is too long, so only its beginning is stored. The branch has all changes.</p> : null}
      {patch ? <Patch patch={patch} /> : null}
    </section>
  );
}

function gitWords(run: Run, { branch, patch }: RunWorkspace): string {
  if (isActive(run)) return "The run works in its own copy. Its changes appear here when it ends.";
  if (!branch) return "The run changed no files.";
  if (patch === null) return "The patch is no longer stored. The branch has the changes.";
  return "The run worked in its own copy. Its changes are a branch of the repository, which you can review and merge.";
}

const folderWords = (isReadOnly: boolean) =>
  isReadOnly ? "Someone else started the run, so it could only read this folder." : "The run worked in this folder. What it changes there is not recorded.";

function Name({ text, action }: { text: string; action?: ReactNode }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <code className="min-w-0 font-mono text-sm [overflow-wrap:anywhere]">
        <Shown text={text} most={MOST_OF_NAME} />
      </code>
      {action}
    </span>
  );
}

function Patch({ patch }: { patch: string }) {
  const files = useMemo(() => filesOf(patch), [patch]);
  return <PatchView files={files} />;
}
