import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";

import { Problem } from "../api/problem";
import { type Conversation, aroundQuery, conversationQuery } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { Failed, Skeleton } from "../ui/States";
import { toast } from "../ui/Toasts";
import { ConversationView } from "./ConversationView";
import { joined } from "./parts";
import { useUnread } from "./useUnread";

export interface MessageListProps {
  place: Place;
  /** A message to show in the middle. */
  at?: number;
  onThread?: (id: number) => void;
  /** What is shown while there is no message. */
  empty?: ReactNode;
  /** Forgets which message was requested. */
  onLeave?: () => void;
}

/** A conversation, newest at the bottom. It stays where it is unless the person is at the end. */
export function MessageList(props: MessageListProps) {
  const { place, at, onLeave } = props;
  const client = useQueryClient();
  const end = useQuery(conversationQuery(place));
  const unread = useUnread(place, end.data);
  const [isPastUnread, setPastUnread] = useState(at !== undefined);
  // The requested or first unread message may be far from the end. Then the part around it is shown until the person reads on to the end
  // or goes there.
  const from = isPastUnread ? undefined : unread.from;
  const isThere = at === undefined ? from === undefined : (end.data?.items.some((message) => message.id === at) ?? true);
  const around = useQuery({ ...aroundQuery(place, at ?? from ?? 0), enabled: !isThere });
  const hasTarget = at === undefined || around.data?.items.some((message) => message.id === at);
  const part = !isThere && hasTarget ? around.data : undefined;
  const isRefused = around.error instanceof Problem && !around.error.isPassing;
  const isElsewhere = at !== undefined && !isThere && !part && (around.data !== undefined || isRefused);
  useEffect(() => {
    if (isElsewhere) toast("That message does not exist or was deleted.", { isError: true });
  }, [isElsewhere, at]);
  useEffect(() => {
    const whole = part && end.data ? joined(end.data, part) : null;
    if (whole) client.setQueryData<Conversation>(conversationQuery(place).queryKey, whole);
  }, [client, place, end.data, part]);
  const partOf = part ? (at ?? from) : undefined;
  const { queryKey } = useMemo(() => (partOf === undefined ? conversationQuery(place) : aroundQuery(place, partOf)), [place, partOf]);
  const leave = useCallback(() => {
    setPastUnread(true);
    onLeave?.();
  }, [onLeave]);
  if (!isThere && around.isError && !isRefused && !around.data) return <Failed error={around.error} retry={() => void around.refetch()} />;
  // Loaded messages stay visible while they cannot be loaded again.
  if (end.data && unread.after !== undefined && (isThere || !around.isPending)) {
    return (
      <ConversationView
        key={placeKey(place)}
        {...props}
        onLeave={leave}
        at={isThere || part ? at : undefined}
        data={part ?? end.data}
        dataKey={queryKey}
        unreadAfter={unread.after}
      />
    );
  }
  if (end.isError) return <Failed error={end.error} retry={() => void end.refetch()} />;
  return <Skeleton />;
}
