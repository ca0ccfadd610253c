import { useEffect, useState } from "react";

import { appearance } from "../lib/appearance";
import { age, ago, clockTime, dateTime, exactTime, secondTime } from "../lib/time";
import { store, useStore } from "../lib/store";

const minute = store(Date.now());
let timer: ReturnType<typeof setInterval> | undefined;
let shown = 0;

/** The time, once a minute, for all that shows how long something is ago. */
export function useMinute(): number {
  const now = useStore(minute);
  useEffect(() => {
    if (shown++ === 0) timer = setInterval(() => minute.set(Date.now()), 60_000);
    return () => {
      if (--shown === 0) clearInterval(timer);
    };
  }, []);
  return now;
}

const WORDS = { ago, age, clock: clockTime, second: secondTime, date: dateTime };

/** How long ago something was, in words or short, or at what time of day; the exact moment is told on demand. */
export function Time({ at, as = "ago" }: { at: string; as?: keyof typeof WORDS }) {
  const now = useMinute();
  useStore(appearance, ({ zone }) => zone);
  const [seen] = useState(() => Date.now());
  return (
    // Only on demand: the browser takes longer for the first exact time than for all clock times of a page.
    <time dateTime={at} onPointerEnter={(event) => (event.currentTarget.title = exactTime(at))} className="text-muted whitespace-nowrap">
      {WORDS[as](at, Math.max(now, seen))}
    </time>
  );
}
