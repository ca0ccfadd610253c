import { memo } from "react";

import type { PrincipalKind } from "../api/types";
import { classes } from "./classes";

const SIDE = 5;

/** The same name always gives the same pattern, symmetric so that it looks like a thing. */
export function patternOf(name: string): boolean[] {
  let state = 2166136261;
  for (const char of name) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 16777619);
  const half = Math.ceil(SIDE / 2);
  const cells: boolean[] = [];
  for (let row = 0; row < SIDE; row++) {
    const left: boolean[] = [];
    for (let column = 0; column < half; column++) {
      state = Math.imul(state ^ (state >>> 15), 2246822519) + row + column;
      left.push(((state >>> 16) & 1) === 1);
    }
    cells.push(...left, ...left.slice(0, SIDE - half).reverse());
  }
  return cells;
}

interface AvatarProps {
  name: string;
  kind: PrincipalKind;
  displayName?: string;
  size?: "small" | "usual" | "large";
}

/** People are round and have an initial, agents are square and have a pattern. */
export const Avatar = memo(function Avatar({ name, kind, displayName, size = "usual" }: AvatarProps) {
  const box = { small: "size-5 text-xs", usual: "size-8", large: "size-12 text-lg" }[size];
  if (kind !== "user") {
    return (
      <svg
        aria-hidden="true"
        viewBox={`-1 -1 ${SIDE + 2} ${SIDE + 2}`}
        className={classes("shrink-0 rounded-sm border border-line bg-bg text-meter", box)}
      >
        {patternOf(name).map((isSet, at) =>
          isSet ? (
            <rect key={at} x={at % SIDE} y={Math.floor(at / SIDE)} width="1.02" height="1.02" fill="currentColor" />
          ) : null,
        )}
      </svg>
    );
  }
  const initial = Array.from((displayName || name).trim())[0]?.toUpperCase() ?? "?";
  return (
    <span
      aria-hidden="true"
      className={classes(
        "inline-flex shrink-0 items-center justify-center rounded-full bg-meter font-semibold text-bg select-none",
        box,
      )}
    >
      {initial}
    </span>
  );
});
