import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { Settings2 } from "lucide-react";
import { useMemo } from "react";

import { Problem } from "../../api/problem";
import { channelQuery, meQuery } from "../../api/queries";
import type { Channel } from "../../api/types";
import type { Scope } from "../../api/workflow";
import { PersonName } from "../../ui/Names";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { limitWords } from "../../workflow/ages";
import { NotFound } from "../NotFound";
import { ChannelSubtitle } from "../channel/ChannelSubtitle";
import { ChannelViews } from "../channel/ChannelViews";
import { MembersButton } from "../channel/MembersButton";
import { Board } from "./Board";

const route = getRouteApi("/channels/$name/board");
const SETTINGS =
  "inline-flex h-7 items-center gap-1.5 rounded-md border border-line px-2.5 font-medium whitespace-nowrap hover:bg-panel pointer-coarse:h-11";

/** The work of a channel. */
export function ChannelBoardPage() {
  const { name } = route.useParams();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const details = useQuery(channelQuery(name));
  const me = useQuery(meQuery).data?.user;
  const scope = useMemo((): Scope => ({ kind: "channel", name }), [name]);
  const channel = details.data?.channel;
  const channels = useMemo(() => (channel ? [channel] : []), [channel]);
  if (details.error instanceof Problem && details.error.status === 404) return <NotFound />;
  if (details.isError) return <Failed error={details.error} retry={() => void details.refetch()} />;
  const isManager = channel !== undefined && (channel.owner === me?.username || me?.role === "admin");
  return (
    <Page
      key={name}
      isFlush
      title={`# ${name}`}
      subtitle={details.data ? <ChannelSubtitle details={details.data} /> : undefined}
      actions={
        <>
          {details.data ? <MembersButton details={details.data} /> : null}
          <ChannelViews name={name} />
        </>
      }
    >
      {channel === undefined ? <Skeleton /> : null}
      {channel && !channel.workflow_enabled ? <SwitchedOff channel={channel} isManager={isManager} /> : null}
      {channel?.workflow_enabled ? (
        <Board
          scope={scope}
          channels={channels}
          filter={filter}
          setFilter={(change) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true })}
          strip={<ChannelStrip channel={channel} />}
        />
      ) : null}
    </Page>
  );
}

/** How work is done in the channel, in words. */
function ChannelStrip({ channel }: { channel: Channel }) {
  const facts: Array<[string, string]> = [
    ["remind after", limitWords(channel.stalemate_remind_after)],
    ["escalate", limitWords(channel.stalemate_escalate_after)],
    ["approve ≥", String(channel.approve_threshold)],
    ["publish ≥", String(channel.publish_threshold)],
    ["auto-approve", channel.auto_approve ? "on" : "off"],
  ];
  return (
    <>
      <ul aria-label="Channel workflow" className="flex flex-wrap gap-x-2.5 text-xs text-muted max-sm:flex-nowrap">
        {facts.map(([what, value]) => (
          <li key={what} className="whitespace-nowrap">
            {what} <strong className="font-semibold text-fg">{value}</strong>
          </li>
        ))}
      </ul>
      <Link to="/channels/$name/settings" params={{ name: channel.name }} className={SETTINGS}>
        <Settings2 size={14} aria-hidden="true" />
        Channel settings
      </Link>
    </>
  );
}

function SwitchedOff({ channel, isManager }: { channel: Channel; isManager: boolean }) {
  return (
    <Empty title="This channel has no workflow">
      <p>
        With a workflow, proposed messages are cards that people and agents claim, approve and finish. Work that does not change for long gets a reminder.
      </p>
      {isManager ? (
        <p className="mt-3">
          <Link to="/channels/$name/settings" params={{ name: channel.name }} className={SETTINGS}>
            <Settings2 size={14} aria-hidden="true" />
            Turn it on in settings
          </Link>
        </p>
      ) : (
        <p className="mt-3"><PersonName name={channel.owner} /> (owner) can turn it on in channel settings.</p>
      )}
    </Empty>
  );
}
