import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** The shortest time between two reloads of the same list, however many events arrive. */
const PAUSE_MS = 1000;
/** The same for lists of which only a number is shown. */
const LEISURE_MS = 5000;
/** How long a slow answer delays the next reload. */
const PATIENCE_MS = 10_000;
/** Lists that were reloaded a moment ago, and whether they must be reloaded again. */
const resting = new Map<string, boolean>();

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** Reloads a list: at once, but not again within a second and not while it is still loading. */
export function reloadSoon(client: QueryClient, ...queryKey: QueryKey): void {
  reloadEvery(client, PAUSE_MS, queryKey);
}

/** The same for a list that nobody looks at now, with a longer pause. */
export function reloadAtLeisure(client: QueryClient, ...queryKey: QueryKey): void {
  reloadEvery(client, LEISURE_MS, queryKey);
}

function reloadEvery(client: QueryClient, pauseMs: number, queryKey: QueryKey): void {
  const name = JSON.stringify(queryKey);
  if (resting.has(name)) {
    resting.set(name, true);
    return;
  }
  resting.set(name, false);
  const loaded = client.invalidateQueries({ queryKey });
  void Promise.all([pause(pauseMs), Promise.race([loaded, pause(PATIENCE_MS)])]).then(() => {
    const isWanted = resting.get(name);
    resting.delete(name);
    if (isWanted) reloadEvery(client, pauseMs, queryKey);
  });
}
