import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";

import { revisedChannelQuery } from "../../api/channel";
import { Problem } from "../../api/problem";
import { meQuery } from "../../api/queries";
import { PersonName } from "../../ui/Names";
import { Page } from "../../ui/Page";
import { Failed, Skeleton } from "../../ui/States";
import { NotFound } from "../NotFound";
import { ChannelEnd } from "./ChannelEnd";
import { ChannelFormSections } from "./ChannelFormSections";
import { ChannelMembers } from "./ChannelMembers";
import { ChannelOwner } from "./ChannelOwner";

const route = getRouteApi("/channels/$name/settings");

/** What a channel is about, how work is done in it, and who is in it. */
export function ChannelSettingsPage() {
  const { name } = route.useParams();
  const channel = useQuery(revisedChannelQuery(name));
  const me = useQuery(meQuery).data;
  if (channel.error instanceof Problem && channel.error.status === 404) return <NotFound />;
  if (channel.isError) return <Failed error={channel.error} retry={() => void channel.refetch()} />;
  const details = channel.data;
  const isOwner = details?.channel.owner === me?.user.username;
  const isManager = isOwner || me?.user.role === "admin";
  return (
    <Page
      key={name}
      title="Channel settings"
      subtitle={`#${name}`}
      actions={
        <Link to="/channels/$name" params={{ name }} activeOptions={{ exact: true }} className="inline-flex min-h-6 items-center whitespace-nowrap text-accent hover:underline pointer-coarse:min-h-11">
          Back to channel
        </Link>
      }
    >
      {details && me ? (
        <>
          {isManager ? null : (
            <p className="border-b border-line bg-panel px-6 py-3 max-md:px-4">
              Only the owner, <PersonName name={details.channel.owner} />, and admins can change this channel. You can add your own agents and leave.
            </p>
          )}
          <ChannelFormSections key={name} name={name} latest={details} isManager={isManager} />
          <ChannelMembers details={details} me={me} />
          {isManager ? <ChannelOwner details={details} /> : null}
          <ChannelEnd details={details} me={me} isManager={isManager} />
        </>
      ) : (
        <Skeleton />
      )}
    </Page>
  );
}
