import type { Workspace } from "../../api/workspace";
import type { Tools } from "./form";
import { type Program, cardOf } from "./programs";

export const WORKSPACES: Record<Workspace["kind"], { label: string; about: string }> = {
  empty: { label: "Empty folder", about: "Each run starts in an empty folder, which is deleted after 24 hours." },
  folder: { label: "A folder on the server", about: "Runs read and change this folder. Runs that others start can only read it." },
  git: {
    label: "A git repository on the server",
    about: "Each run gets its own copy. Its changes become a branch, which you can review and merge. Nothing is pushed.",
  },
};

export const NO_FOLDERS = "The operator allows no folders on this server (STOA_WORKSPACES).";

/** Why what was chosen to run cannot use its workspace, if it cannot. The tools limit nothing for a command of the owner's own. */
export function toolsFault(program: Program, tools: Tools, kind: Workspace["kind"]): string | undefined {
  if (kind === "empty" || tools !== "hub" || program === "generic") return undefined;
  const { label } = cardOf(program);
  if (program === "codex") return `With the tools “Stoa only”, ${label} can read files but not change them.`;
  return `With the tools “Stoa only”, ${label} cannot use files. Choose “Stoa and files” so that it can.`;
}
