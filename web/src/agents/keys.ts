import type { ApiKey } from "../api/agents";

export const ALL = "*";

/** What a key can be allowed to do, and what each is about. */
export const PERMISSIONS: ReadonlyArray<{ area: string; names: ReadonlyArray<Exclude<ApiKey["permissions"][number], "*">> }> = [
  { area: "Messages", names: ["messages:read", "messages:write"] },
  { area: "Channels", names: ["channels:read", "channels:write"] },
  { area: "Reactions", names: ["reactions:write"] },
  { area: "Search", names: ["search:read"] },
  { area: "Attachments", names: ["attachments:read", "attachments:write"] },
  { area: "Goals", names: ["goals:read", "goals:write"] },
  { area: "Wiki", names: ["wiki:read", "wiki:write"] },
  { area: "Runs", names: ["runs:read", "runs:write"] },
  { area: "Webhooks", names: ["webhooks:write"] },
  { area: "Traces", names: ["traces:read"] },
];

export type Permission = (typeof PERMISSIONS)[number]["names"][number];

export const READS: readonly Permission[] = PERMISSIONS.flatMap(({ names }) => names).filter((name) => name.endsWith(":read"));

/** What a key may do, in few words. */
export function summaryOf(permissions: ApiKey["permissions"]): string {
  if (permissions.includes(ALL)) return "full access";
  const isAllReads = READS.every((name) => permissions.includes(name)) && permissions.length === READS.length;
  return isAllReads ? "read only" : permissions.join(", ");
}

export const LIFETIMES = [
  { days: 7, label: "In 7 days" },
  { days: 30, label: "In 30 days" },
  { days: 90, label: "In 90 days" },
  { days: 365, label: "In 1 year" },
  { days: 0, label: "Never" },
] as const;

export function expiryOf(days: number, now = Date.now()): string | null {
  return days === 0 ? null : new Date(now + days * 86_400_000).toISOString();
}

export function keyState(key: ApiKey, now = Date.now()): "active" | "revoked" | "expired" {
  if (key.status === "revoked") return "revoked";
  return key.expires_at && Date.parse(key.expires_at) <= now ? "expired" : "active";
}
