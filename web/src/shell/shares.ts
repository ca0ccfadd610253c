import type { SidebarConversation } from "./sections";

/** A section gets at least so many rows. In a low window the sidebar scrolls. */
const FEWEST = 4;

/** How many rows each section gets, so that all sections are in sight together. What one does not need, the others get. */
export function sharesOf(lengths: readonly number[], room: number): number[] {
  const shares = lengths.map((length) => Math.min(length, FEWEST));
  let left = room - shares.reduce((sum, share) => sum + share, 0);
  while (left > 0 && shares.some((share, at) => share < lengths[at]!)) {
    for (const [at, length] of lengths.entries()) {
      if (left === 0 || shares[at]! >= length) continue;
      shares[at]!++;
      left--;
    }
  }
  return shares;
}

/**
 * The rows that a section shows, in their order. If it has more than its share, those that are wanted most, and one row is left for the
 * button that shows all: what must be in sight first, then what is unread, then what is recent.
 */
export function rowsWithin(rows: readonly SidebarConversation[], share: number, isKept: (row: SidebarConversation) => boolean): readonly SidebarConversation[] {
  if (rows.length <= share) return rows;
  const rank = (row: SidebarConversation) => (isKept(row) ? 2 : row.unread > 0 ? 1 : 0);
  const wanted = [...rows].sort((one, other) => rank(other) - rank(one) || other.latest - one.latest);
  const chosen = new Set(wanted.slice(0, share - 1));
  return rows.filter((row) => chosen.has(row));
}
