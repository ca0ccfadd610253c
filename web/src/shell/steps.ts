import type { QueryClient } from "@tanstack/react-query";

import { pathOf } from "./sections";
import { sectionsIn } from "./useSections";

interface Stop {
  path: string;
  isUnread: boolean;
}

/** The conversations of the sidebar, from top to bottom. */
export function stopsOf(client: QueryClient): Stop[] {
  const { starred, channels, people, agents } = sectionsIn(client);
  return [...starred, ...channels, ...people, ...agents].map((row) => ({ path: pathOf(row), isUnread: row.unread > 0 }));
}

/** The conversation above or below the one that is open, round and round; on demand only those with something new. */
export function stepFrom(stops: Stop[], path: string, step: 1 | -1, isUnreadOnly: boolean): string | undefined {
  const here = stops.findIndex((stop) => path === stop.path || path.startsWith(`${stop.path}/`));
  // From elsewhere, down leads to the first and up to the last.
  const start = here < 0 && step < 0 ? 0 : here;
  for (let walked = 1; walked <= stops.length; walked++) {
    const stop = stops[(start + step * walked + stops.length * 2) % stops.length]!;
    if (stop.path !== path && (!isUnreadOnly || stop.isUnread)) return stop.path;
  }
  return undefined;
}
