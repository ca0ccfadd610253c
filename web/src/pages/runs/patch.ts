import { unquoted } from "./gitNames";

export type Change = "changed" | "added" | "deleted" | "renamed" | "copied";

/** What a patch says of one file. */
export interface PatchFile {
  name: string;
  /** Its name before, if it was renamed or copied. */
  from: string | null;
  change: Change;
  isBinary: boolean;
  /** The mode before and after, where the patch names them. A new or deleted file has one of them. */
  modes: { before: string | null; after: string | null };
  /** The lines as they are in the patch, each with its sign: what it is follows from its first character. */
  lines: string[];
  added: number;
  removed: number;
}

export type LineKind = "added" | "removed" | "place" | "note" | "same";

/** What a line of a patch is: an added or removed one, the place where changes begin, a note of git, or one that stays the same. */
export function kindOf(line: string): LineKind {
  const sign = line[0];
  return sign === "+" ? "added" : sign === "-" ? "removed" : sign === "@" ? "place" : sign === "\\" ? "note" : "same";
}

const FILE = "diff --git ";

/**
 * The files of a patch that git wrote. Within a file, no line of a text begins like the next file, because each has its sign before it.
 * The patch may end anywhere.
 */
export function filesOf(patch: string): PatchFile[] {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  let isHead = false;
  for (const line of linesOf(patch)) {
    if (line.startsWith(FILE)) {
      file = newFile(line.slice(FILE.length));
      files.push(file);
      isHead = true;
    } else if (file === undefined) {
      continue;
    } else if (isHead && !line.startsWith("@@ ")) {
      readHead(file, line);
    } else {
      isHead = false;
      file.lines.push(line);
      if (line.startsWith("+")) file.added++;
      else if (line.startsWith("-")) file.removed++;
    }
  }
  return files;
}

/** Lines end with a line feed, and with nothing else that a file may contain. The last one may have none. */
function linesOf(patch: string): string[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const newFile = (names: string): PatchFile => ({
  ...{ name: nameOfBoth(names), from: null, change: "changed", isBinary: false },
  ...{ modes: { before: null, after: null }, lines: [], added: 0, removed: 0 },
});

const withoutSide = (name: string) => name.replace(/^[ab]\//, "");

/** The name in `a/NAME b/NAME`. Names may have spaces, but where they differ, lines below say both. What is cut is shown as it is. */
function nameOfBoth(names: string): string {
  const first = unquoted(names);
  if (first !== null) return withoutSide(first);
  const half = (names.length - 1) / 2;
  const [one, other] = [names.slice(0, half), names.slice(half + 1)];
  return names[half] === " " && withoutSide(one) === withoutSide(other) ? withoutSide(one) : names;
}

/** A name that a line of the head consists of. Git puts a tab after one with spaces. */
const wholeName = (text: string) => unquoted(text) ?? text.replace(/\t$/, "");

/** Reads a line between the names of a file and its first change. */
function readHead(file: PatchFile, line: string): void {
  const after = (start: string) => (line.startsWith(start) ? line.slice(start.length) : null);
  const read = (start: string, take: (text: string) => void) => {
    const text = after(start);
    if (text !== null) take(text);
  };
  read("new file mode ", (mode) => {
    file.change = "added";
    file.modes.after = mode;
  });
  read("deleted file mode ", (mode) => {
    file.change = "deleted";
    file.modes.before = mode;
  });
  read("old mode ", (mode) => (file.modes.before = mode));
  read("new mode ", (mode) => (file.modes.after = mode));
  for (const [change, word] of [["renamed", "rename"], ["copied", "copy"]] as const) {
    read(`${word} from `, (name) => {
      file.change = change;
      file.from = wholeName(name);
    });
    read(`${word} to `, (name) => (file.name = wholeName(name)));
  }
  // A deleted file has no name on the other side.
  read("--- ", (name) => readSide(file, name));
  read("+++ ", (name) => readSide(file, name));
  if (line === "GIT binary patch" || (line.startsWith("Binary files ") && line.endsWith(" differ"))) file.isBinary = true;
}

function readSide(file: PatchFile, text: string): void {
  const name = wholeName(text);
  if (name !== "/dev/null" && file.from === null) file.name = withoutSide(name);
}
