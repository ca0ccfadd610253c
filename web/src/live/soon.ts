import type { QueryClient } from "@tanstack/react-query";

/** Where much happens, lists that are asked for anew are asked for this often at most. */
const PAUSE_MS = 1000;
const resting = new Map<string, boolean>();

/** Has a list loaded anew: at once, but not again and again. */
export function soon(client: QueryClient, key: string): void {
  if (resting.has(key)) {
    resting.set(key, true);
    return;
  }
  resting.set(key, false);
  void client.invalidateQueries({ queryKey: [key] });
  setTimeout(() => {
    const isWanted = resting.get(key);
    resting.delete(key);
    if (isWanted) soon(client, key);
  }, PAUSE_MS);
}
