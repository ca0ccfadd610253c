import { textParam } from "../../lib/searchParams";

export const ADMIN_TABS = ["users", "audit", "clients", "machines", "system"] as const;

export type AdminTab = (typeof ADMIN_TABS)[number];

export interface AdminSearch {
  tab?: AdminTab;
  actor?: string;
  action?: string;
}

export function adminSearch(search: Record<string, unknown>): AdminSearch {
  return {
    tab: ADMIN_TABS.find((tab) => tab === search["tab"]),
    actor: textParam(search["actor"]),
    action: textParam(search["action"]),
  };
}
