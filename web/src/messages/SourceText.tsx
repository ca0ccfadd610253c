import type { ReactNode } from "react";

import { beginningOf } from "../lib/cut";
import { ShowAll } from "../ui/ShowAll";
import { Shown } from "../ui/Shown";
import type { Change } from "./changed";

interface SourceTextProps {
  /** What the text is. */
  name: string;
  text: string;
  note?: ReactNode;
  /** The part that differs. It is marked, and a long text is shown from shortly before it. */
  change?: Change;
}

/** So much is shown before a change. */
const BEFORE = 200;

/** A text as it is, without any formatting. */
export function SourceText({ name, text, note, change }: SourceTextProps) {
  const start = change && beginningOf(text).length < change.end ? Math.max(0, change.start - BEFORE) : 0;
  const end = start + beginningOf(text.slice(start)).length;
  const part = (from: number, to: number) => <Shown text={text.slice(Math.max(start, from), Math.min(end, to))} />;
  return (
    <section>
      <h3 className="flex flex-wrap items-baseline gap-x-2 text-sm font-semibold">
        {name}
        {note}
      </h3>
      <pre dir="ltr" className="mt-1 overflow-clip rounded-md border border-line bg-panel px-3 py-2 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
        {start > 0 ? "…" : null}
        {change ? (
          <>
            {part(0, change.start)}
            <mark>{part(change.start, change.end)}</mark>
            {part(change.end, text.length)}
          </>
        ) : (
          part(0, text.length)
        )}
        {end < text.length ? "…" : null}
      </pre>
      {start > 0 || end < text.length ? <ShowAll title={name} text={text} /> : null}
    </section>
  );
}
