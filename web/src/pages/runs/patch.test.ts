import { describe, expect, it } from "vitest";

import { unquoted } from "./gitNames";
import { openCount } from "./PatchView";
import { filesOf, kindOf } from "./patch";
import { changeWords, diffCommand, sizeWords } from "./patchWords";

/** Written by git 2.39, with names that it quotes, and those that it only ends with a tab. */
const PATCH = String.raw`diff --git a/a b.txt b/b c.txt
similarity index 100%
rename from a b.txt
rename to b c.txt
diff --git a/empty file b/empty file
new file mode 100644
index 0000000..e69de29
diff --git a/fresh.txt b/fresh.txt
new file mode 100644
index 0000000..f2119f8
--- /dev/null
+++ b/fresh.txt
@@ -0,0 +1,2 @@
+fresh
+++ plus
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 76c93cd..0000000
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-gone
--- dashes
diff --git a/link b/link
new file mode 120000
index 0000000..3594e94
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+/etc/passwd
\ No newline at end of file
diff --git a/old-name.txt b/new name.txt
similarity index 94%
rename from old-name.txt
rename to new name.txt
index e8823e1..da8e12a 100644
--- a/old-name.txt
+++ b/new name.txt${"\t"}
@@ -29,2 +29,3 @@
 29
 30
+more
diff --git a/pic.bin b/pic.bin
index 8352675..1592e5c 100644
Binary files a/pic.bin and b/pic.bin differ
diff --git "a/quo\"te \303\244.txt" "b/quo\"te \303\244.txt"
index 1b32298..6e94b48 100644
--- "a/quo\"te \303\244.txt"${"\t"}
+++ "b/quo\"te \303\244.txt"${"\t"}
@@ -1,2 +1,2 @@
 x
-y
\ No newline at end of file
+z
\ No newline at end of file
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/src dir/a file.txt b/src dir/a file.txt
index 4cb29ea..ea14db2 100644
--- a/src dir/a file.txt${"\t"}
+++ b/src dir/a file.txt${"\t"}
@@ -1,3 +1,4 @@ int main
 one
-two
+2
 three
+four
`;

describe("a patch", () => {
  const files = filesOf(PATCH);
  const named = (name: string) => files.find((file) => file.name === name)!;

  it("is split into its files", () => {
    expect(files.map(({ name, from, change, added, removed }) => [name, from, change, added, removed])).toEqual([
      ["b c.txt", "a b.txt", "renamed", 0, 0],
      ["empty file", null, "added", 0, 0],
      ["fresh.txt", null, "added", 2, 0],
      ["gone.txt", null, "deleted", 0, 2],
      ["link", null, "added", 1, 0],
      ["new name.txt", "old-name.txt", "renamed", 1, 0],
      ["pic.bin", null, "changed", 0, 0],
      ['quo"te ä.txt', null, "changed", 1, 1],
      ["run.sh", null, "changed", 0, 0],
      ["src dir/a file.txt", null, "changed", 2, 1],
    ]);
  });

  it("has lines that look like names of files", () => {
    expect(named("fresh.txt").lines).toEqual(["@@ -0,0 +1,2 @@", "+fresh", "+++ plus"]);
    expect(named("gone.txt").lines).toEqual(["@@ -1,2 +0,0 @@", "-gone", "--- dashes"]);
  });

  it("says what each line is", () => {
    expect(named('quo"te ä.txt').lines.map(kindOf)).toEqual(["place", "same", "removed", "note", "added", "note"]);
    expect(kindOf("")).toBe("same");
  });

  it("says which files are no text, and which have another mode", () => {
    expect(files.filter(({ isBinary }) => isBinary).map(({ name }) => name)).toEqual(["pic.bin"]);
    expect(named("run.sh").modes).toEqual({ before: "100644", after: "100755" });
    expect(named("link").modes).toEqual({ before: null, after: "120000" });
    const data = "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\nliteral 3\nKcmZQzWMT#X01f~K\n\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\n";
    expect(filesOf(data).map(({ name, isBinary, lines }) => [name, isBinary, lines])).toEqual([
      ["x", true, []],
      ["y", false, []],
    ]);
  });

  it("says in words what happened to a file", () => {
    const words = Object.fromEntries(files.map((file) => [file.name, changeWords(file)]));
    expect([words["run.sh"], words["link"], words["gone.txt"], words["pic.bin"], words["b c.txt"]]).toEqual([
      "now executable",
      "new, symbolic link",
      "deleted",
      "binary",
      "renamed",
    ]);
    expect(sizeWords({ files: 1, insertions: 10, deletions: 2 })).toBe("1 file changed, 10 added, 2 removed");
    const where = { path: "/srv/my site", base_commit: "0123456789abcdef", branch: "stoa/run-12" };
    expect(diffCommand(where)).toBe("git -C '/srv/my site' diff 0123456789ab..stoa/run-12");
    expect(diffCommand({ ...where, branch: null })).toBeNull();
  });

  it("opens the first files unless they are long", () => {
    const long = (...lengths: number[]) => lengths.map((length) => ({ ...files[0]!, lines: Array<string>(length).fill("+") }));
    expect([openCount(files), openCount(long(9000, 1)), openCount(long(300, 200, 1)), openCount([])]).toEqual([3, 1, 1, 3]);
  });

  it("can end anywhere", () => {
    for (let end = 0; end <= PATCH.length; end++) {
      const cut = filesOf(PATCH.slice(0, end));
      expect(cut.length).toBeLessThanOrEqual(files.length);
      // All files but the last are whole.
      expect(cut.slice(0, -1)).toEqual(files.slice(0, Math.max(0, cut.length - 1)));
    }
    expect(filesOf("diff --git a/src/lo")).toMatchObject([{ name: "a/src/lo", lines: [] }]);
    expect(filesOf('diff --git "a/quo\\"te')).toMatchObject([{ name: '"a/quo\\"te' }]);
    expect(filesOf("")).toEqual([]);
  });

  it("of half a megabyte is read", () => {
    const head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,170000 @@\n";
    expect(filesOf(head + "+a\n".repeat(170_000))[0]!.added).toBe(170_000);
    expect(filesOf(`${head}+${"x".repeat(500_000)}\n`)[0]!.lines).toHaveLength(2);
    expect(filesOf(`diff --git "${"\\303\\244".repeat(60_000)}`)).toHaveLength(1);
    expect(filesOf(`diff --git ${"a/x ".repeat(120_000)}`)).toHaveLength(1);
  });
});

describe("a name in quotes", () => {
  it("is read byte by byte", () => {
    expect(unquoted('"tab\\tname \\360\\237\\232\\200" rest')).toBe("tab\tname 🚀");
    expect(unquoted('"🚀\\\\"')).toBe("🚀\\");
    expect([unquoted("plain"), unquoted('"open'), unquoted('"open\\')]).toEqual([null, null, null]);
  });
});
