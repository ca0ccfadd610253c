import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import { channelsQuery, meQuery } from "../../api/queries";
import { claimsQuery, openWorkQuery } from "../../api/workflow";
import { waiting } from "../../shell/waiting";
import { useMinute } from "../../ui/Time";
import { groupsOf, ownWorkflows, waitingIn } from "./groups";

/** Counts what waits for the person on every page. The inbox uses the same queries, so nothing is loaded twice. */
export function InboxWatch() {
  const now = useMinute();
  const me = useQuery(meQuery).data;
  const channels = useQuery(channelsQuery).data;
  const workflows = useMemo(() => ownWorkflows(channels ?? []), [channels]);
  const claims = useQuery(claimsQuery).data;
  const open = useQuery(openWorkQuery(workflows)).data;
  const count = useMemo(() => {
    if (!me || !channels || !claims) return undefined;
    const groups = groupsOf({
      me,
      channels,
      mentions: [],
      claims: claims.items,
      open: workflows.length ? (open?.items ?? []) : [],
      unread: [],
      now: Math.max(now, Date.now()),
    });
    return waitingIn(groups);
  }, [me, channels, claims, workflows, open, now]);
  useEffect(() => {
    if (count !== undefined) waiting.set(count);
  }, [count]);
  return null;
}
