import { person } from "../lib/person";
import { load, save } from "../lib/storage";

/** Kinds of work that are offered. People can write any other. */
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
