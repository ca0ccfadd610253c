import { useEffect } from "react";

import { labelOf, runsOf } from "../lib/hidden";
import { store, useStore } from "../lib/store";

/** A text with more marks than this is written out instead: each mark is an element. */
const MOST_MARKS = 2000;

const names = store<{ describe: (run: string) => string } | null>(null);

/** A text of somebody's, in a line or a block, with a mark in place of hidden characters. */
export function Shown({ text }: { text: string }) {
  const runs = runsOf(text);
  const marks = runs.filter(({ isHidden }) => isHidden).length;
  if (marks === 0) return text;
  if (marks > MOST_MARKS) return runs.map((run) => (run.isHidden ? `[${labelOf(run.text)}]` : run.text)).join("");
  return runs.map((run, at) => (run.isHidden ? <Sign key={at} run={run.text} /> : run.text));
}

function Sign({ run }: { run: string }) {
  const known = useStore(names);
  useEffect(() => {
    if (!names.get()) void import("../lib/characterNames").then(({ describeRun }) => names.set({ describe: describeRun }), () => undefined);
  }, []);
  return (
    <span className="sign" title={known?.describe(run)}>
      {labelOf(run)}
    </span>
  );
}
