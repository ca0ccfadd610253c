const MOST_MATCHES = 12;

/** How well a label matches the typed text: at its beginning, at the beginning of a word, or anywhere. */
export function rank(label: string, typed: string): number {
  const text = label.toLowerCase();
  const sought = typed.toLowerCase();
  if (!sought) return 1;
  if (text.startsWith(sought)) return 3;
  if (text.split(/[\s/_-]/).some((word) => word.startsWith(sought))) return 2;
  return text.includes(sought) ? 1 : 0;
}

/** The best matches, by group. The group with the best match comes first. */
export function bestOf<One extends { group: string; label: string }>(all: readonly One[], typed: string): One[] {
  const ranked = all.map((one) => ({ one, rank: rank(one.label, typed) })).filter((found) => found.rank > 0);
  ranked.sort((one, other) => other.rank - one.rank);
  const best = ranked.slice(0, MOST_MATCHES).map((found) => found.one);
  const groups = [...new Set(best.map((one) => one.group))];
  return groups.flatMap((group) => best.filter((one) => one.group === group));
}
