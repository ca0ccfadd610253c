import type { Hit, SearchPage } from "../../api/search";
import type { Me, Place } from "../../api/types";
import { placeKey } from "../../api/types";
import { placeOf } from "../../messages/place";

/** Results of one conversation. */
export interface Group {
  key: string;
  place: Place;
  hits: Hit[];
}

/**
 * Results by conversation. Each page is grouped by itself, so that what one reads stays where it is when more come; what moved on to the
 * next page in the meantime is shown once.
 */
export function groupsOf(pages: readonly SearchPage[], me: Me | undefined): Group[] {
  const groups: Group[] = [];
  const seen = new Set<number>();
  for (const [at, page] of pages.entries()) {
    const before = groups.length;
    for (const hit of page.items) {
      if (seen.has(hit.id)) continue;
      seen.add(hit.id);
      const place = placeOf(hit, me);
      const name = placeKey(place);
      // The last one of the page before goes on.
      const known = groups.find((group, index) => index >= before - 1 && placeKey(group.place) === name);
      if (known) known.hits.push(hit);
      else groups.push({ key: `${at} ${name}`, place, hits: [hit] });
    }
  }
  return groups;
}
