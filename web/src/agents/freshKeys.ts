import { store } from "../lib/store";

/**
 * Keys that were made on this page, by agent: for as long as it is open they can be put into settings. They are kept nowhere
 * else.
 */
export const freshKeys = store<Readonly<Record<string, string>>>({});

export function rememberKey(agent: string, key: string): void {
  freshKeys.set((now) => ({ ...now, [agent]: key }));
}
