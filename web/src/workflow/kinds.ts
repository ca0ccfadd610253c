import { person } from "../lib/person";
import { load, save } from "../lib/storage";

/** Kinds of work that are always offered. People can write any other. */
export const KINDS = ["publish", "research", "review", "deploy"] as const;

/** The hub takes these. */
export function isKind(text: string): boolean {
  return /^[a-z0-9_.-]{1,64}$/.test(text);
}

export const KIND_RULE = "Use up to 64 of a-z, 0-9, _, . and -.";

/** Where the browser keeps the kind that somebody last proposed in a channel. */
const keyOf = (channel: string) => `stoa.kinds.${person.get()}.${channel}`;

export function lastKind(channel: string): string {
  const kept = load<unknown>(keyOf(channel), null);
  return typeof kept === "string" && isKind(kept) ? kept : KINDS[0];
}

export function keepKind(channel: string, kind: string): void {
  if (isKind(kind)) save(keyOf(channel), kind);
}

/** As many kinds as a list can have before nobody finds one in it. */
const MOST_OFFERED = 30;

/** The kinds to choose from: those in use first, then the usual ones, then the chosen one if it is another. Each is there once. */
export function offeredKinds(used: Iterable<string>, chosen: string): string[] {
  const offered = [...new Set([...[...new Set(used)].filter(isKind).sort(), ...KINDS])].slice(0, MOST_OFFERED);
  return isKind(chosen) && !offered.includes(chosen) ? [...offered, chosen] : offered;
}
