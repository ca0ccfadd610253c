import { store } from "../lib/store";

interface Build {
  /** Of the page that runs; null while it is not known, and in development. */
  first: string | null;
  /** Of the page that a reload would bring. */
  latest: string | null;
}

/** Which build of the page runs here, and which the hub has. */
export const build = store<Build>({ first: null, latest: null });

const POLLED_MS = 5 * 60_000;

/** The build that a file names. A proxy may answer anything, and a server in development answers with the page. */
export function buildIn(text: string): string | null {
  return /^[0-9a-f]{8,64}$/.exec(text.trim())?.[0] ?? null;
}

export async function askForBuild(): Promise<void> {
  try {
    const answer = await fetch("/build-id.txt", { cache: "no-store" });
    const id = answer.ok ? buildIn(await answer.text()) : null;
    if (id) build.set((now) => ({ first: now.first ?? id, latest: id }));
  } catch {
    // Not reachable just now; it is asked again.
  }
}

/** Asks now and every few minutes. Returns how to stop. */
export function followBuild(): () => void {
  void askForBuild();
  const timer = setInterval(() => void askForBuild(), POLLED_MS);
  return () => clearInterval(timer);
}
