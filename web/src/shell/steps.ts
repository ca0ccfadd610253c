import type { QueryClient } from "@tanstack/react-query";

import { channelsQuery, partnersQuery, unreadQuery } from "../api/queries";

interface Stop {
  path: string;
  isUnread: boolean;
}

/** The conversations of the sidebar, from top to bottom. */
export function stopsOf(client: QueryClient): Stop[] {
  const unread = new Set((client.getQueryData(unreadQuery.queryKey) ?? []).filter((one) => one.unread_count > 0).map((one) => `${one.kind} ${one.name}`));
  const isUnread = (kind: string, name: string) => unread.has(`${kind} ${name}`);
  const channels = (client.getQueryData(channelsQuery.queryKey) ?? []).filter((channel) => channel.is_member);
  const partners = (client.getQueryData(partnersQuery.queryKey) ?? []).slice(0, MOST_PARTNERS);
  return [
    ...channels.map(({ name }) => ({ path: `/channels/${name}`, isUnread: isUnread("channel", name) })),
    ...partners.map(({ name }) => ({ path: `/dm/${name}`, isUnread: isUnread("dm", name) })),
  ];
}

/** As many as the sidebar shows. */
export const MOST_PARTNERS = 20;

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
