import { type QueryClient, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { channelsQuery, meQuery, partnersQuery, unreadQuery } from "../api/queries";
import { starredQuery } from "../api/stars";
import { type Sections, sectionsOf } from "./sections";

/** The same each time, so that nothing is made again while nothing is loaded. */
const NONE: never[] = [];
const NO_STARS: ReadonlySet<string> = new Set();

/** The conversations of the sidebar. */
export function useSections(): Sections {
  const agents = useQuery(meQuery).data?.agents ?? NONE;
  const channels = useQuery(channelsQuery).data ?? NONE;
  const partners = useQuery(partnersQuery).data ?? NONE;
  const unread = useQuery(unreadQuery).data ?? NONE;
  const starred = useQuery(starredQuery).data ?? NO_STARS;
  return useMemo(() => sectionsOf({ channels, partners, agents, unread, starred }), [channels, partners, agents, unread, starred]);
}

/** The same, from what is loaded now. */
export function sectionsIn(client: QueryClient): Sections {
  return sectionsOf({
    agents: client.getQueryData(meQuery.queryKey)?.agents ?? NONE,
    channels: client.getQueryData(channelsQuery.queryKey) ?? NONE,
    partners: client.getQueryData(partnersQuery.queryKey) ?? NONE,
    unread: client.getQueryData(unreadQuery.queryKey) ?? NONE,
    starred: client.getQueryData(starredQuery.queryKey) ?? NO_STARS,
  });
}
