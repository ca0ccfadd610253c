import type { components } from "./schema";
import type { Agent } from "./types";

/** Where runs of an agent work. */
export type Workspace = components["schemas"]["Workspace"];

/** Where a run worked, and for a repository what it changed there. */
export type RunWorkspace = components["schemas"]["RunWorkspace"];

/** An empty folder is what runs get without a workspace. */
export const workspaceOf = (harness: Agent["harness"]): Workspace => harness?.workspace ?? { kind: "empty" };
