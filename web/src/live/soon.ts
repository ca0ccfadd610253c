import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** Where much happens, lists that are asked for anew are asked for this often at most. */
const PAUSE_MS = 1000;
/** An answer that does not come holds up the next question no longer than this. */
const PATIENCE_MS = 10_000;
const resting = new Map<string, boolean>();

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** Has a list loaded anew: at once, but not again and again, and not while it is still being loaded. */
export function soon(client: QueryClient, ...queryKey: QueryKey): void {
  const name = JSON.stringify(queryKey);
  if (resting.has(name)) {
    resting.set(name, true);
    return;
  }
  resting.set(name, false);
  const loaded = client.invalidateQueries({ queryKey });
  void Promise.all([pause(PAUSE_MS), Promise.race([loaded, pause(PATIENCE_MS)])]).then(() => {
    const isWanted = resting.get(name);
    resting.delete(name);
    if (isWanted) soon(client, ...queryKey);
  });
}
