import type { ProgramList } from "./programs";
import type { RunDetails } from "./runs";
import type { Agent } from "./types";

type Harness = NonNullable<Agent["harness"]>;

// These shapes stand here until the description of the hub has them. Then they become names of its schemas, and the functions below,
// the only ones that look at the fields, lose their casts.

/** Where runs of an agent work. */
export interface Workspace {
  kind: "empty" | "folder" | "git";
  path?: string;
}

/** Where a run worked, and for a repository what it changed there. */
export interface RunWorkspace {
  kind: "folder" | "git";
  path: string;
  /** The branch with the changes, if there are some. */
  branch: string | null;
  base_commit: string | null;
  commit: string | null;
  files: number;
  insertions: number;
  deletions: number;
  /** The changes, or their beginning. The hub deletes it after some time. */
  patch: string | null;
  truncated: boolean;
}

export const workspaceOf = (harness: Harness | null | undefined): Workspace =>
  (harness as { workspace?: Workspace | null } | null | undefined)?.workspace ?? { kind: "empty" };

/** The same harness with another workspace. An empty folder is what runs get without one. */
export const withWorkspace = (harness: Harness, workspace: Workspace): Harness => ({
  ...harness,
  ...{ workspace: workspace.kind === "empty" ? undefined : workspace },
});

/** The folders that the operator allows as workspaces. */
export const allowedFolders = (list: ProgramList): readonly string[] => (list as { workspaces?: string[] }).workspaces ?? [];

export const workspaceOfRun = (details: RunDetails): RunWorkspace | null => (details as { workspace?: RunWorkspace | null }).workspace ?? null;
