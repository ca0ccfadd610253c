/**
 * A new password ends every session and begins another, whose cookie comes with the answer. Whatever is asked in between is refused
 * with 401 although nobody was logged out, and the stream, which the hub closes first, is what asks.
 */

const LOCK = "stoa.session";
/** Where there are no locks, another tab gets this long. */
const PATIENCE_MS = 1000;

let renewal: Promise<unknown> = Promise.resolve();

/** Does what replaces the session. Until it is done, a refusal says nothing about the session, in other tabs neither. */
export function renewing<T>(work: () => Promise<T>): Promise<T> {
  const done = navigator.locks ? navigator.locks.request(LOCK, work) : work();
  renewal = done.catch(() => undefined);
  return done as Promise<T>;
}

let asking: Promise<boolean> | null = null;

/** Whether somebody who was refused is logged out. All that are refused at the same time ask once. */
export function hasSessionEnded(): Promise<boolean> {
  asking ??= ask().finally(() => {
    asking = null;
  });
  return asking;
}

async function ask(): Promise<boolean> {
  await renewal;
  if (navigator.locks) await navigator.locks.request(LOCK, { mode: "shared" }, () => undefined);
  else await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  const answer = await fetch("/auth/me", { cache: "no-store" }).catch(() => null);
  return answer?.status === 401;
}
