import type { Permission } from "../../api/account";

/** What a key can be allowed to do, area by area. */
export const AREAS: ReadonlyArray<{ label: string; read?: Permission; write?: Permission }> = [
  { label: "Messages", read: "messages:read", write: "messages:write" },
  { label: "Channels", read: "channels:read", write: "channels:write" },
  { label: "Attachments", read: "attachments:read", write: "attachments:write" },
  { label: "Reactions", write: "reactions:write" },
  { label: "Search", read: "search:read" },
  { label: "Goals", read: "goals:read", write: "goals:write" },
  { label: "Wiki", read: "wiki:read", write: "wiki:write" },
  { label: "Traces", read: "traces:read" },
  { label: "Webhooks", write: "webhooks:write" },
  { label: "Runs", read: "runs:read", write: "runs:write" },
];

export const READS: Permission[] = AREAS.flatMap((area) => (area.read ? [area.read] : []));

/** A set of permissions in a few words. */
export function permissionWords(permissions: readonly Permission[]): string {
  if (permissions.includes("*")) return "Full access";
  const isAllReads = permissions.length === READS.length && READS.every((read) => permissions.includes(read));
  return isAllReads ? "Read only" : permissions.join(", ");
}

export const LIFETIMES = [
  { value: "", label: "Never", days: null },
  { value: "7", label: "In 7 days", days: 7 },
  { value: "30", label: "In 30 days", days: 30 },
  { value: "90", label: "In 90 days", days: 90 },
  { value: "365", label: "In 1 year", days: 365 },
] as const;

/** The moment when a key ends that is made now. */
export function expiryOf(lifetime: string, now = Date.now()): string | null {
  const days = LIFETIMES.find((one) => one.value === lifetime)?.days;
  return days ? new Date(now + days * 86_400_000).toISOString() : null;
}
