import type { Approval, Revision } from "../api/history";
import { type Change, changedPart } from "./changed";
import { listed } from "./reactions";

/** A text that a message has had, and what is new in it. */
export interface ShownRevision extends Revision {
  change: Change | undefined;
  isCurrent: boolean;
}

/** So many of the latest texts are shown, besides those that somebody approved. */
const MOST = 20;

/**
 * The texts of a message, newest first; the hub sends the oldest first. Each is compared with the one before it. The text now is compared
 * with the last one that somebody approved, and each approved text with the text now, so that one sees what was removed as well.
 */
export function revisionsOf(history: readonly Revision[]): ShownRevision[] {
  const last = history.length - 1;
  const isApproved = ({ approvals }: Revision) => (approvals?.length ?? 0) > 0;
  const shown: ShownRevision[] = [];
  let approved: Revision | undefined;
  history.forEach((one, at) => {
    const isCurrent = at === last;
    const other = isCurrent ? approved : isApproved(one) ? history[last] : undefined;
    const before = other ?? history[at - 1];
    if (isApproved(one)) approved = one;
    if (!isApproved(one) && at <= last - MOST) return;
    shown.push({ ...one, change: before && changedPart(before.body, one.body), isCurrent });
  });
  return shown.reverse();
}

/** Who approved a text; undefined if nobody did. */
export function approvalWords(approvals: readonly Approval[] | undefined, me: string | undefined): string | undefined {
  const names = [...new Set((approvals ?? []).map(({ by }) => (by === me ? "you" : `@${by}`)))];
  return names.length > 0 ? `approved by ${listed(names, 4)}` : undefined;
}
