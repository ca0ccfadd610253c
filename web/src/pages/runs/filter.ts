import { ACTIVE, FAILED, type RunFilter, type RunStatus } from "../../api/runs";
import type { RunSearch } from "./search";

/** The groups that one can choose, with the statuses in each. */
export const GROUPS = {
  active: { label: "Active", statuses: ACTIVE },
  deferred: { label: "Deferred", statuses: ["deferred"] },
  failed: { label: "Failed", statuses: FAILED },
  succeeded: { label: "Succeeded", statuses: ["succeeded"] },
  cancelled: { label: "Cancelled", statuses: ["cancelled"] },
} as const satisfies Record<string, { label: string; statuses: readonly RunStatus[] }>;

export type Group = keyof typeof GROUPS;

export const GROUP_NAMES = Object.keys(GROUPS) as Group[];

export const groupIn = ({ status }: RunSearch): Group | undefined => GROUP_NAMES.find((name) => name === status);

/** Only what narrows the list, so that equal filters are equal. */
export function filterOf(search: RunSearch): RunFilter {
  const group = groupIn(search);
  return { ...(search.agent ? { agent: search.agent } : {}), ...(group ? { status: GROUPS[group].statuses.join(",") } : {}) };
}

export interface Counts {
  running: number;
  queued: number;
  deferred: number;
  succeeded: number;
  failed: number;
  cancelled: number;
}

export function countIn(group: Group, counts: Counts): number {
  return group === "active" ? counts.running + counts.queued + counts.deferred : counts[group];
}

/** The totals in one line: `2 running, 1 queued, 114 finished, 91 % succeeded`. */
export function totalsOf({ running, queued, deferred, succeeded, failed, cancelled }: Counts): string {
  const finished = succeeded + failed + cancelled;
  // Somebody who cancels a run decides against it; that is no failure of the agent.
  const rated = succeeded + failed;
  const parts = [`${running.toLocaleString()} running`];
  if (queued) parts.push(`${queued.toLocaleString()} queued`);
  if (deferred) parts.push(`${deferred.toLocaleString()} deferred`);
  parts.push(`${finished.toLocaleString()} finished`);
  if (rated) parts.push(`${Math.round((succeeded / rated) * 100)} % succeeded`);
  return parts.join(", ");
}
