import { useEffect, useState } from "react";

import { afterPaint } from "./afterPaint";

const waiting = new Set<() => void>();
let isStepping = false;

function step(): void {
  const [next] = waiting;
  if (next) waiting.delete(next);
  isStepping = waiting.size > 0;
  next?.();
  if (isStepping) afterPaint(step);
}

/**
 * Whether a costly part of the page may be drawn. Each gets a frame of its own, so that many of them do not block the page as one; other
 * parts need not wait.
 */
export function useTurn(isCostly: boolean): boolean {
  const [isReady, setReady] = useState(!isCostly);
  useEffect(() => {
    if (isReady) return undefined;
    const begin = () => setReady(true);
    waiting.add(begin);
    if (!isStepping) {
      isStepping = true;
      afterPaint(step);
    }
    return () => void waiting.delete(begin);
  }, [isReady]);
  return isReady || !isCostly;
}
