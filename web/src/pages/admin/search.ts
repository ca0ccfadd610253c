export const ADMIN_TABS = ["users", "audit", "clients", "machines", "system"] as const;

export type AdminTab = (typeof ADMIN_TABS)[number];

export interface AdminSearch {
  tab?: AdminTab;
  actor?: string;
  action?: string;
}

function words(value: unknown): string | undefined {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text : undefined;
}

export function adminSearch(search: Record<string, unknown>): AdminSearch {
  return {
    tab: ADMIN_TABS.find((tab) => tab === search["tab"]),
    actor: words(search["actor"]),
    action: words(search["action"]),
  };
}
