import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Hash, Lock } from "lucide-react";
import { useState } from "react";

import { api, ok, repeatKey } from "../api/client";
import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import { Button } from "../ui/Button";
import { Page } from "../ui/Page";
import { Empty, Failed, Skeleton } from "../ui/States";
import { toast } from "../ui/Toasts";

/** All channels that the person sees, and a way to make one. */
export function ChannelsPage() {
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const [isMaking, setMaking] = useState(false);
  const join = useMutation({
    mutationFn: (name: string) => ok(api.POST("/api/channels/{name}/join", { params: { path: { name } } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["channels"] }),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
  });
  return (
    <Page
      title="Channels"
      actions={
        isMaking ? null : (
          <Button look="filled" onClick={() => setMaking(true)}>
            New channel
          </Button>
        )
      }
    >
      {isMaking ? <NewChannel onClose={() => setMaking(false)} /> : null}
      {channels.isError ? <Failed error={channels.error} retry={() => void channels.refetch()} /> : null}
      {channels.isLoading ? <Skeleton /> : null}
      {channels.data?.length === 0 ? <Empty title="There are no channels yet" /> : null}
      <ul>
        {channels.data?.map((channel) => (
          <li key={channel.id} className="flex items-center gap-3 border-b border-line px-6 py-2">
            {channel.public ? <Hash size={16} aria-label="Public" className="shrink-0" /> : <Lock size={16} aria-label="Private" className="shrink-0" />}
            <Link to="/channels/$name" params={{ name: channel.name }} className="min-w-0 truncate font-medium hover:underline">
              {channel.name}
            </Link>
            <span className="min-w-0 flex-1 truncate text-muted">{channel.topic}</span>
            <span className="whitespace-nowrap text-muted tabular-nums">
              {channel.member_count} {channel.member_count === 1 ? "member" : "members"}
            </span>
            {channel.is_member ? null : (
              <Button size="row" disabled={join.isPending} onClick={() => join.mutate(channel.name)}>
                Join
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Page>
  );
}

function NewChannel({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [topic, setTopic] = useState("");
  const [isPublic, setPublic] = useState(true);
  const [key] = useState(repeatKey);
  const make = useMutation({
    mutationFn: () =>
      ok(api.POST("/api/channels", { params: { header: { "Idempotency-Key": key } }, body: { name, topic, description: "", public: isPublic } })),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ["channels"] });
      void navigate({ to: "/channels/$name", params: { name: made.channel.name } });
    },
  });
  const field = "h-9 rounded-md border border-control bg-bg px-2";
  return (
    <form
      className="flex flex-wrap items-end gap-3 border-b border-line bg-panel px-6 py-4"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      <label className="flex flex-col gap-1">
        Name
        <input
          autoFocus
          required
          pattern="[a-z0-9][a-z0-9_\-]{0,63}"
          title="Lower-case letters, digits, - and _"
          value={name}
          onChange={(event) => setName(event.target.value)}
          className={field}
        />
      </label>
      <label className="flex flex-1 flex-col gap-1">
        Topic
        <input value={topic} maxLength={250} onChange={(event) => setTopic(event.target.value)} className={field} />
      </label>
      <label className="flex h-9 items-center gap-2">
        <input type="checkbox" checked={isPublic} onChange={(event) => setPublic(event.target.checked)} />
        Everybody sees it
      </label>
      <Button type="submit" look="filled" size="form" disabled={make.isPending}>
        Create
      </Button>
      <Button size="form" onClick={onClose}>
        Cancel
      </Button>
      {make.isError ? (
        <p role="alert" className="w-full text-rejected">
          {sentenceOf(make.error)}
        </p>
      ) : null}
    </form>
  );
}
