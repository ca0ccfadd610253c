import { useEffect } from "react";

import { beginningOf } from "../lib/cut";
import { labelOf, runsOf } from "../lib/hidden";
import { store, useStore } from "../lib/store";
import { ShowAll } from "./ShowAll";

/** A text with more marks than this is written out instead: each mark is an element. */
const MOST_MARKS = 500;

/** So much of a text is drawn in a line of a list, in plain characters. */
export const MOST_OF_LINE = 300;

const names = store<{ describe: (run: string) => string } | null>(null);

interface ShownProps {
  text: string;
  /** So much of it is drawn, in plain characters. */
  most?: number;
  /** What the text is. With it, all of a longer text can be opened; within a link or a button it cannot. */
  title?: string;
}

/** A text of somebody's, in a line or a block, with a mark in place of hidden characters. Of a long one, its beginning. */
export function Shown({ text, most, title }: ShownProps) {
  const beginning = beginningOf(text, most);
  if (beginning.length < text.length) {
    return (
      <>
        {marked(beginning)}… {title === undefined ? null : <ShowAll title={title} text={text} />}
      </>
    );
  }
  return marked(text);
}

function marked(text: string) {
  const runs = runsOf(text);
  const marks = runs.filter(({ isHidden }) => isHidden).length;
  if (marks === 0) return text;
  if (marks > MOST_MARKS) return runs.map((run) => (run.isHidden ? `[${labelOf(run.text)}]` : run.text)).join("");
  return runs.map((run, at) => (run.isHidden ? <Sign key={at} run={run.text} /> : run.text));
}

function Sign({ run }: { run: string }) {
  const known = useStore(names);
  useEffect(() => {
    if (names.get()) return;
    // Of many marks that are drawn together, only the first sets it: each time, all of them are notified.
    void import("../lib/characterNames").then(({ describeRun }) => names.get() ?? names.set({ describe: describeRun }), () => undefined);
  }, []);
  return (
    <span className="sign" title={known?.describe(run)}>
      {labelOf(run)}
    </span>
  );
}
