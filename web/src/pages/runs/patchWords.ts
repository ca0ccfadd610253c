import { joinWords } from "../../agents/runs/commandLine";
import type { RunWorkspace } from "../../api/workspace";
import type { PatchFile } from "./patch";

/** How many files and lines a run changed: `3 files changed, 10 added, 2 removed`. */
export function sizeWords({ files, insertions, deletions }: Pick<RunWorkspace, "files" | "insertions" | "deletions">): string {
  return `${files.toLocaleString()} ${files === 1 ? "file" : "files"} changed, ${insertions.toLocaleString()} added, ${deletions.toLocaleString()} removed`;
}

const SHORT = 12;

/** A commit as people write it. */
export const shortCommit = (commit: string) => commit.slice(0, SHORT);

/** The command that shows the changes in the repository; null without changes. */
export function diffCommand({ path, base_commit, branch }: Pick<RunWorkspace, "path" | "base_commit" | "branch">): string | null {
  return base_commit && branch ? joinWords(["git", "-C", path, "diff", `${shortCommit(base_commit)}..${branch}`]) : null;
}

/** The command that takes the changes over; null without changes. */
export const mergeCommand = ({ path, branch }: Pick<RunWorkspace, "path" | "branch">): string | null =>
  branch ? joinWords(["git", "-C", path, "merge", branch]) : null;

/** Modes that say more than that something is a file. */
const MODES: Record<string, string> = { "100755": "executable", "120000": "symbolic link", "160000": "submodule" };
const modeWords = (mode: string) => MODES[mode] ?? (mode === "100644" ? "not executable" : `mode ${mode}`);

/** What happened to a file beside its lines: `new, symbolic link`. */
export function changeWords({ change, isBinary, modes: { before, after } }: Pick<PatchFile, "change" | "isBinary" | "modes">): string {
  const mode = before && after ? `now ${modeWords(after)}` : (MODES[after ?? before ?? ""] ?? "");
  const word = { changed: "", added: "new", deleted: "deleted", renamed: "renamed", copied: "copied" }[change];
  return [word, isBinary ? "binary" : "", mode].filter(Boolean).join(", ");
}
