import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";

import { type Conversation, channelQuery } from "../api/queries";
import type { Place } from "../api/types";
import { farUnread, readUpTo } from "./unread";

interface Unread {
  /** How far the person had read when they came: null if nothing counts as unread for them, undefined as long as that is not known. */
  after: number | null | undefined;
  /** The same, if the first unread message is not loaded. */
  from: number | undefined;
}

/** What the person had not read when they came. */
export function useUnread(place: Place, data: Conversation | undefined): Unread {
  const isUnknown = place.kind === "channel" && data?.lastRead === null;
  const channel = useQuery({ ...channelQuery(place.name), enabled: isUnknown });
  const isMember = place.kind === "dm" ? !place.as : channel.data?.channel.is_member;
  const before = useRef<number | null>(undefined);
  if (before.current === undefined && data && !(isUnknown && channel.isPending)) before.current = readUpTo(data, isMember);
  const after = before.current;
  return { after, from: data && farUnread(data, after) };
}
