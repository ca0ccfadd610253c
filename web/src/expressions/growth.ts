import { counted } from "./backtrack";

/** Characters that expressions for texts are about. One of each kind is enough, by where in the expression it can stand. */
const CHARACTERS = Array.from(" \t\nabxzAZ019_-.,:;!?#*`~[](){}|<>@/\\&=%+^$\"'…é漢א\u0301\u200b\u2028\ufeff\u{1f600}\u{1f3fb}\u200d\ufe0f");
/** It can stand nowhere, unless in a set of all characters. */
const OTHER = "\u0001";
const MOST_KINDS = 9;

/** A text that an expression needs more than so many times as many steps for, if it is twice as long. */
const GROWTH = 3;
const SHORT = 40;

function pumpsOf(kinds: readonly string[]): string[] {
  const pairs = kinds.flatMap((one) => kinds.filter((other) => other !== one).map((other) => one + other));
  const threes = kinds.length > 5 ? [] : pairs.flatMap((pair) => kinds.map((one) => pair + one));
  return [...kinds, ...pairs, ...threes];
}

/** A text for which an expression takes more than in proportion to its length; undefined if none was found. */
export function hostileTextFor(source: string, flags: string): string | undefined {
  const { sets, steps } = counted(source, flags);
  const bySets = new Map(CHARACTERS.map((one) => [sets.map((has) => Number(has(one))).join(""), one]));
  const kinds = [...bySets].filter(([where]) => where.includes("1")).map(([, one]) => one).slice(0, MOST_KINDS);
  const isAll = flags.includes("g");
  for (const pump of pumpsOf(kinds)) {
    for (const end of ["", OTHER, ...kinds.slice(0, 4)]) {
      const text = (times: number) => pump.repeat(times) + end;
      const [once, twice] = [steps(text(SHORT), isAll), steps(text(SHORT * 2), isAll)];
      if (twice <= once * GROWTH && Number.isFinite(once)) continue;
      // What is bounded grows no further.
      const four = steps(text(SHORT * 4), isAll);
      if (four > twice * GROWTH || !Number.isFinite(four)) return JSON.stringify(`${pump}…${end}`);
    }
  }
  return undefined;
}
