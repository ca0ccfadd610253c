import { useState } from "react";

import { Button } from "../../ui/Button";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { classes } from "../../ui/classes";
import { briefOf } from "../../lib/cut";
import { type LineKind, type PatchFile, kindOf } from "./patch";
import { changeWords } from "./patchWords";

/** The page draws this number of lines of a file at first. */
const LINES = 300;
/** "Show more" adds this number of lines. */
const MORE_LINES = 500;
const MOST_OF_NAME = 200;

/** One changed file: its name and how much changed, and below it the lines if it is open. */
export function PatchFileBox({ file, isOpenAtFirst }: { file: PatchFile; isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const about = changeWords(file);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} className="min-w-0 overflow-clip rounded-md border border-line">
      <summary className="cursor-pointer bg-panel px-3 py-1.5 [overflow-wrap:anywhere] pointer-coarse:py-3">
        <code className="font-mono text-sm">
          {file.from === null ? null : (
            <>
              <Shown text={file.from} most={MOST_OF_NAME} /> →{" "}
            </>
          )}
          <Shown text={file.name} most={MOST_OF_NAME} />
        </code>
        {about ? <span className="ml-2 text-sm text-muted">{about}</span> : null}
        {file.added || file.removed ? (
          <span className="ml-2 text-sm whitespace-nowrap tabular-nums">
            <span className="text-approved">+{file.added.toLocaleString()}</span> <span className="text-rejected">−{file.removed.toLocaleString()}</span>
          </span>
        ) : null}
      </summary>
      {isOpen ? <Lines file={file} /> : null}
    </details>
  );
}

function Lines({ file: { name, lines, isBinary } }: { file: PatchFile }) {
  const [count, setCount] = useState(LINES);
  const more = Math.min(MORE_LINES, lines.length - count);
  if (lines.length === 0) return <p className="border-t border-line px-3 py-2 text-muted">{isBinary ? "A binary file, which is not shown." : "No lines changed."}</p>;
  return (
    <div className="border-t border-line">
      <pre tabIndex={0} role="group" aria-label={`Lines of ${briefOf(name, MOST_OF_NAME)}`} className="overflow-x-auto py-1 font-mono text-sm">
        {/* As wide as the longest line, so that colours go on to the end while one scrolls. */}
        <div className="w-max min-w-full">
          {lines.slice(0, count).map((line, at) => (
            <Line key={at} line={line} />
          ))}
        </div>
      </pre>
      {more > 0 ? (
        <p className="flex flex-wrap items-center gap-2 border-t border-line px-3 py-2">
          <Button onClick={() => setCount(count + more)}>Show {more.toLocaleString()} more lines</Button>
          <span className="text-muted">
            {count.toLocaleString()} of {lines.length.toLocaleString()} lines
          </span>
        </p>
      ) : null}
    </div>
  );
}

/** Only changed lines have a border: with forced colours, a transparent one would be seen, too. */
const LOOKS: Record<LineKind, string> = {
  added: "border-l-3 border-approved bg-approved/10 pl-2",
  removed: "border-l-3 border-rejected bg-rejected/10 pl-2 forced-colors:border-dotted",
  place: "bg-panel pl-[11px] text-muted",
  note: "pl-[11px] text-muted",
  same: "pl-[11px]",
};

/** A line with its sign. The sign, the element and the colour show its kind. */
function Line({ line }: { line: string }) {
  const kind = kindOf(line);
  const Element = kind === "added" ? "ins" : kind === "removed" ? "del" : "div";
  const isReturned = line.endsWith("\r");
  return (
    <Element className={classes("block min-h-5 pr-2 no-underline", LOOKS[kind])}>
      <Shown text={isReturned ? line.slice(0, -1) : line} most={MOST_OF_LINE} title="Full line" />
      {isReturned ? <span className="sign">CR</span> : null}
    </Element>
  );
}
