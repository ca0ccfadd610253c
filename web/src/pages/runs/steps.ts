import type { RunStep } from "../../api/runs";
import { spanWords } from "../../runs/words";

/** A line of the output: a step, or a long time without one. */
export type OutputRow = { kind: "step"; key: number; step: RunStep } | { kind: "quiet"; key: string; milliseconds: number };

/** Shorter times without a step are not worth a line. */
const QUIET_MS = 60_000;

export const isError = ({ kind }: RunStep) => kind === "error_output";

/** The lines of the output. A long time without a step becomes one line. */
export function outputRows(steps: readonly RunStep[], isErrorsOnly = false): OutputRow[] {
  const rows: OutputRow[] = [];
  let before: number | undefined;
  steps.forEach((step, index) => {
    if (isErrorsOnly && !isError(step)) return;
    const at = Date.parse(step.at);
    if (before !== undefined && at - before >= QUIET_MS) rows.push({ kind: "quiet", key: `quiet ${index}`, milliseconds: at - before });
    before = at;
    rows.push({ kind: "step", key: index, step });
  });
  return rows;
}

/** How long after the beginning something happened: `+0.2 s`, `+2 min 04 s`. */
export function offsetWords(from: string, at: string): string {
  const passed = Math.max(0, Date.parse(at) - Date.parse(from));
  return passed < 10_000 ? `+${(passed / 1000).toFixed(1)} s` : `+${spanWords(passed)}`;
}

/** What happened in the run, in one line: `4 tool calls, 26 lines of output, 1 error line`. */
export function summaryOf(steps: readonly RunStep[]): string {
  const count = (kind: RunStep["kind"], one: string, many: string) => {
    const number = steps.filter((step) => step.kind === kind).length;
    return number ? `${number.toLocaleString()} ${number === 1 ? one : many}` : "";
  };
  const parts = [
    count("tool_call", "tool call", "tool calls"),
    count("message_sent", "message sent", "messages sent"),
    count("output", "line of output", "lines of output"),
    count("error_output", "error line", "error lines"),
  ];
  return parts.filter(Boolean).join(", ");
}

/** What the hub stores of a prompt or a response. */
const MOST_STORED = 32 * 1024;

/** Whether a text is as long as what the hub stores. A character that did not fit may make it up to 3 bytes shorter. */
export function isFull(text: string): boolean {
  return text.length * 3 >= MOST_STORED - 3 && new TextEncoder().encode(text).length >= MOST_STORED - 3;
}

/** The output as one text, to copy it. */
export function outputText(steps: readonly RunStep[]): string {
  return steps.map(({ at, text }) => `${at} ${text}`).join("\n");
}
