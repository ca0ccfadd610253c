import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { type NotificationLevel, type NotificationSettings, notificationsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import { sentenceOf } from "../../api/problem";
import { channelsQuery } from "../../api/queries";
import type { Channel } from "../../api/types";
import { ActionLink, NEXT_STEPS } from "../../ui/ActionLink";
import { Choice } from "../../ui/Choice";
import type { Column } from "../../ui/DataTable";
import { LongTable } from "../../ui/LongTable";
import { ChannelNames } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { toast } from "../../ui/Toasts";
import { withLevel } from "./levels";

const WORDS: Record<NotificationLevel, string> = { all: "Everything", mentions: "Only mentions" };

/** What the person is told of: in general, and channel by channel. */
export function NotificationsPage() {
  const client = useQueryClient();
  const settings = useQuery(notificationsQuery);
  const channels = useQuery(channelsQuery);
  const { queryKey } = notificationsQuery;
  const change = useMutation({
    mutationFn: (next: NotificationSettings) => ok(api.PUT("/api/notifications/settings", { body: next })),
    onMutate: (next) => {
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, next);
      return { before };
    },
    onError: (error, _, context) => {
      client.setQueryData(queryKey, context?.before);
      toast(sentenceOf(error), { isError: true });
    },
    onSuccess: (now) => {
      client.setQueryData(queryKey, now);
      void client.invalidateQueries({ queryKey: ["unread"] });
    },
  });
  const failed = settings.error ?? channels.error;
  if (failed) {
    return (
      <Failed
        error={failed}
        retry={() => {
          void settings.refetch();
          void channels.refetch();
        }}
      />
    );
  }
  if (!settings.data || !channels.data) return <Skeleton />;
  const now = settings.data;
  const mine = channels.data.filter((channel) => channel.is_member);
  const levelOf = (name: string) => now.channels.find((one) => one.channel === name)?.level ?? "";
  const columns: Array<Column<Channel>> = [
    { title: "Channel", cell: (channel) => <ChannelNames names={[channel.name]} /> },
    { title: "Topic", isWideOnly: true, cell: (channel) => <span className="text-muted"><Shown text={channel.topic} most={MOST_OF_LINE} /></span> },
    {
      title: "Notify me about",
      isEnd: true,
      cell: (channel) => (
        <select
          aria-label={`Notify me about, in ${channel.name}`}
          value={levelOf(channel.name)}
          disabled={change.isPending}
          onChange={(event) =>
            change.mutate({
              ...now,
              channels: withLevel(now.channels, channel.name, event.target.value, channels.data),
            })
          }
          className="h-7 rounded-md border border-control bg-bg px-1 max-sm:w-44 pointer-coarse:h-11"
        >
          <option value="">Default ({WORDS[now.default_level].toLowerCase()})</option>
          <option value="all">{WORDS.all}</option>
          <option value="mentions">{WORDS.mentions}</option>
        </select>
      ),
    },
  ];
  return (
    <>
      <Section title="Default" description="Choose what counts as unread. DMs always do.">
        <Choice
          label="Notify me about"
          value={now.default_level}
          options={[
            { value: "all", label: "Everything in my channels" },
            { value: "mentions", label: WORDS.mentions },
          ]}
          onChange={(level) => change.mutate({ ...now, default_level: level })}
        />
      </Section>
      <Section title="Per channel">
        {mine.length ? (
          <LongTable label="Notification level per channel" columns={columns} rows={mine} keyOf={(channel) => channel.id} />
        ) : (
          <Empty title="You are not in any channel">
            <p>Your channels appear here, each with its own choice.</p>
            <p className={NEXT_STEPS}>
              <ActionLink to="/channels">Browse channels</ActionLink>
            </p>
          </Empty>
        )}
      </Section>
    </>
  );
}
