import { briefOf } from "../lib/cut";
import { classes } from "../ui/classes";
import { safeName } from "./files";

/** As much of the end as says what a file is. */
const TAIL = 8;

/** So much of a name is drawn, in plain characters. */
const MOST = 600;

/** A file's name in a line. A long one is cut before its ending; what turns the direction of writing stays in it. */
export function FileName({ name, className }: { name: string; className?: string }) {
  const letters = Array.from(safeName(name));
  const cut = letters.length > TAIL * 2 ? letters.length - TAIL : letters.length;
  return (
    <bdi title={letters.join("")} className={classes("flex min-w-0 whitespace-pre", className)}>
      <span className="truncate">{briefOf(letters.slice(0, cut).join(""), MOST)}</span>
      <span className="shrink-0">{letters.slice(cut).join("")}</span>
    </bdi>
  );
}
