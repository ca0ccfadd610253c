import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hash, Lock } from "lucide-react";

import { api, ok } from "../api/client";
import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import { making } from "../shell/making";
import { Button } from "../ui/Button";
import { Page } from "../ui/Page";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { Empty, Failed, Skeleton } from "../ui/States";
import { toast } from "../ui/Toasts";
import { VirtualList } from "../ui/VirtualList";

/** All channels that the person sees, and a way to make one. */
export function ChannelsPage() {
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const join = useMutation({
    mutationFn: (name: string) => ok(api.POST("/api/channels/{name}/join", { params: { path: { name } } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["channels"] }),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
  });
  return (
    <Page
      title="Channels"
      actions={
        <Button look="filled" onClick={() => making.set("channel")}>
          New channel
        </Button>
      }
    >
      {channels.isError ? <Failed error={channels.error} retry={() => void channels.refetch()} /> : null}
      {channels.isLoading ? <Skeleton /> : null}
      {channels.data?.length === 0 ? <Empty title="No channels yet">Channels that you can read appear here. Create one with “New channel”.</Empty> : null}
      <VirtualList rows={channels.data ?? []} keyOf={({ id }) => id} size={41} rowClass="flex items-center gap-3 border-b border-line px-6 py-2">
        {(channel) => (
          <>
            {channel.public ? <Hash size={16} aria-label="Public" className="shrink-0" /> : <Lock size={16} aria-label="Private" className="shrink-0" />}
            <Link to="/channels/$name" params={{ name: channel.name }} className="min-w-0 truncate font-medium hover:underline">
              {channel.name}
            </Link>
            <span className="min-w-0 flex-1 truncate text-muted">
              <Shown text={channel.topic} most={MOST_OF_LINE} />
            </span>
            <span className="whitespace-nowrap text-muted tabular-nums">
              {channel.member_count} {channel.member_count === 1 ? "member" : "members"}
            </span>
            {channel.is_member ? null : (
              <Button size="row" disabled={join.isPending} onClick={() => join.mutate(channel.name)}>
                Join
              </Button>
            )}
          </>
        )}
      </VirtualList>
    </Page>
  );
}
