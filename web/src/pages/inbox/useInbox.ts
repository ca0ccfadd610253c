import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { channelsQuery, meQuery, unreadQuery } from "../../api/queries";
import { claimsQuery, mentionsQuery, openWorkQuery } from "../../api/workflow";
import { useMinute } from "../../ui/Time";
import { groupsOf, ownWorkflows, withNews } from "./groups";

/** What waits for the person: three searches beside what the sidebar has loaded already. */
export function useInbox() {
  const now = useMinute();
  const me = useQuery(meQuery).data;
  const channels = useQuery(channelsQuery);
  const unread = useQuery(unreadQuery);
  const workflows = useMemo(() => ownWorkflows(channels.data ?? []), [channels.data]);
  const news = useMemo(() => withNews(unread.data ?? []), [unread.data]);
  const claims = useQuery(claimsQuery);
  const open = useQuery(openWorkQuery(workflows));
  const mentions = useQuery(mentionsQuery(news));
  const parts = [channels, unread, claims, open, mentions];
  const groups = useMemo(
    () =>
      me &&
      groupsOf({
        me,
        channels: channels.data ?? [],
        mentions: news.length ? (mentions.data?.items ?? []) : [],
        claims: claims.data?.items ?? [],
        open: workflows.length ? (open.data?.items ?? []) : [],
        unread: unread.data ?? [],
        now: Math.max(now, Date.now()),
      }),
    [me, channels.data, news, mentions.data, claims.data, workflows, open.data, unread.data, now],
  );
  return {
    groups,
    // What has not come yet must not look as if nothing waited.
    isLoading: parts.some((part) => part.isLoading),
    errors: parts.filter((part) => part.isError).map((part) => part.error),
    retry: () => {
      for (const part of parts) if (part.isError) void part.refetch();
    },
    hasMoreOpen: open.data?.hasMore === true || claims.data?.hasMore === true,
  };
}
