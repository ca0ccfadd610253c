import type { ReactNode } from "react";

import { Shown } from "../ui/Shown";
import type { Change } from "./changed";

/** A text as it is, without any formatting. With a change, the part that differs is marked. */
export function SourceText({ label, text, note, change }: { label: ReactNode; text: string; note?: ReactNode; change?: Change }) {
  return (
    <section>
      <h3 className="flex flex-wrap items-baseline gap-x-2 text-sm font-semibold">
        {label}
        {note}
      </h3>
      <pre dir="ltr" className="mt-1 overflow-clip rounded-md border border-line bg-panel px-3 py-2 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
        {change ? (
          <>
            <Shown text={text.slice(0, change.start)} />
            <mark>
              <Shown text={text.slice(change.start, change.end)} />
            </mark>
            <Shown text={text.slice(change.end)} />
          </>
        ) : (
          <Shown text={text} />
        )}
      </pre>
    </section>
  );
}
