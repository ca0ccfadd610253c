/** Does something when what is drawn now is on the screen. Returns what prevents it. */
export function afterPaint(act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(act);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

const SOON_MS = 2000;

/** Does something when the page has nothing else to do. Returns what prevents it. */
export function whenIdle(act: () => void): () => void {
  // Not every browser tells.
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(act, SOON_MS);
    return () => clearTimeout(timer);
  }
  const idle = requestIdleCallback(act);
  return () => cancelIdleCallback(idle);
}
