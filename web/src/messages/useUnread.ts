import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";

import { type Conversation, channelsQuery } from "../api/queries";
import type { Place } from "../api/types";

interface Unread {
  /** How far the person had read when they came: null if nothing counts as unread for them, undefined as long as that is not known. */
  after: number | null | undefined;
  /** The same, if the first unread message is not loaded. */
  from: number | undefined;
}

/** What the person had not read when they came. Who is a member and has never been here has read nothing. */
export function useUnread(place: Place, data: Conversation | undefined): Unread {
  const isUnknown = place.kind === "channel" && data?.lastRead === null;
  const channels = useQuery({ ...channelsQuery, enabled: isUnknown });
  const isMember = place.kind === "dm" ? !place.as : channels.data?.find(({ name }) => name === place.name)?.is_member;
  const before = useRef<number | null>(undefined);
  if (before.current === undefined && data && !(isUnknown && channels.isPending)) before.current = data.lastRead ?? (isMember && data.items.length > 0 ? 0 : null);
  const after = before.current;
  const isFar = typeof after === "number" && data?.hasOlder && (data.items[0]?.id ?? 0) > after;
  return { after, from: isFar ? after : undefined };
}
