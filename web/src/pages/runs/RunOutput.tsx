import { Copy } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";

import type { RunStep } from "../../api/runs";
import { spanWords } from "../../runs/words";
import { Button, IconButton } from "../../ui/Button";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Switch } from "../../ui/Switch";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { VirtualList } from "../../ui/VirtualList";
import { copy } from "../../ui/copy";
import { type OutputRow, isError, outputRows, outputText } from "./steps";

const COLOURS: Record<RunStep["kind"], string> = {
  started: "text-muted",
  output: "",
  error_output: "text-rejected",
  turn: "text-muted",
  tool_call: "text-muted",
  tool_result: "text-muted",
  text: "",
  note: "text-amber",
  message_sent: "text-muted",
  finished: "text-muted",
};

/** About how high a line is. Of a long one the beginning is drawn, and a button. */
function heightOf(row: OutputRow): number {
  if (row.kind === "quiet") return 28;
  return 20 * Math.max(1, Math.ceil(Math.min(row.step.text.length, MOST_OF_LINE) / 90)) + (row.step.text.length > MOST_OF_LINE ? 12 : 0);
}

/** Everything that happened in a run, line by line. Only the lines in sight are drawn. */
export function RunOutput({ steps, isLive }: { steps: readonly RunStep[]; isLive: boolean }) {
  const [isErrorsOnly, setErrorsOnly] = useState(false);
  const [isFollowed, setFollowed] = useState(true);
  const rows = useMemo(() => outputRows(steps, isErrorsOnly), [steps, isErrorsOnly]);
  const errors = useMemo(() => steps.filter(isError).length, [steps]);
  const box = useRef<HTMLDivElement>(null);
  const showRow = useRef<(index: number) => void>(null);
  useEffect(() => {
    if (!isLive || !isFollowed) return undefined;
    // The list knows its height only after it has drawn the new lines.
    const frame = requestAnimationFrame(() => {
      if (showRow.current) showRow.current(rows.length - 1);
      else box.current?.scrollTo({ top: box.current.scrollHeight });
    });
    return () => cancelAnimationFrame(frame);
  }, [rows, isLive, isFollowed]);
  const choice = (isOn: boolean, label: string, choose: () => void) => (
    <Button size="row" aria-pressed={isOn} className="aria-pressed:bg-selected" onClick={choose}>
      {label}
    </Button>
  );
  return (
    <section aria-label="Output" className="flex flex-col border-t border-line">
      <div className="flex flex-wrap items-center gap-2 px-6 py-2 max-md:px-4">
        <h2 className="font-semibold">Output</h2>
        <div role="group" aria-label="Lines" className="flex flex-1 gap-1">
          {choice(!isErrorsOnly, "All", () => setErrorsOnly(false))}
          {choice(isErrorsOnly, `Errors ${errors}`, () => setErrorsOnly(true))}
        </div>
        {isLive ? <Switch label="Follow" isOn={isFollowed} onChange={setFollowed} /> : null}
        <IconButton label="Copy output" onClick={() => void copy(outputText(steps)).then((isDone) => isDone && toast("Copied"))}>
          <Copy size={14} />
        </IconButton>
      </div>
      <div ref={box} data-scroller tabIndex={0} role="region" aria-label="Lines of output" className="relative max-h-[60dvh] min-h-24 overflow-y-auto bg-panel px-6 py-2 font-mono text-sm max-md:px-4">
        {rows.length ? (
          <VirtualList rows={rows} keyOf={({ key }) => key} size={heightOf} showRow={showRow}>
            {(row) => <Line row={row} />}
          </VirtualList>
        ) : (
          <p className="font-sans text-muted">{isErrorsOnly ? "No errors." : "No output yet."}</p>
        )}
      </div>
    </section>
  );
}

function Line({ row }: { row: OutputRow }) {
  if (row.kind === "quiet") return <p className="py-1 font-sans text-muted">{spanWords(row.milliseconds)} without output</p>;
  const { step } = row;
  return (
    <div className={`flex gap-3 ${COLOURS[step.kind]}`}>
      <span className="shrink-0 max-sm:hidden">
        <Time at={step.at} as="second" />
      </span>
      {/* The words of a program: plain text, and nothing of it is hidden. */}
      <span className="min-w-0 flex-1 overflow-clip [overflow-wrap:anywhere] whitespace-pre-wrap">
        {step.kind === "tool_call" ? <span className="font-sans">Tool call: </span> : null}
        <Shown text={step.text} most={MOST_OF_LINE} title="Full line" />
      </span>
    </div>
  );
}
