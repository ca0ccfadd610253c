import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";

import type { ApiKey } from "../api/account";
import { channelsQuery, meQuery } from "../api/queries";
import { profileLink } from "../profiles/profileLink";

const LINK = "-my-0.5 inline-flex min-h-6 items-center text-accent hover:underline";

/**
 * A handle that opens the card of its person or agent, and is a link to their page. What has been deleted since has neither; the card
 * says so.
 */
export function PersonName({ name }: { name: string }) {
  const me = useQuery(meQuery).data;
  return (
    <Link {...profileLink(name, me)} data-profile={name} aria-haspopup="dialog" className={LINK}>
      @{name}
    </Link>
  );
}

/** Your own agents lead straight to their page, because most who click their names want to change them. */
export function AgentName({ name }: { name: string }) {
  const isOwn = useQuery(meQuery).data?.agents.some((agent) => agent.name === name) ?? false;
  return isOwn ? (
    <Link to="/agents/$name" params={{ name }} className={LINK}>
      @{name}
    </Link>
  ) : (
    <PersonName name={name} />
  );
}

/** The channels that a key is limited to, or what is said of a key without a limit. A new channel with the name of a deleted one is another. */
export function KeyChannels({ of, none }: { of: Pick<ApiKey, "channels" | "deleted_channels" | "limited">; none: ReactNode }) {
  const deleted = of.deleted_channels ?? [];
  const present = of.channels.filter((name) => !deleted.includes(name));
  if (!of.limited) return none;
  if (of.channels.length === 0) return "none";
  return (
    <>
      <ChannelNames names={present} />
      {present.length && deleted.length ? ", " : ""}
      {deleted.map((name) => `#${name} (deleted)`).join(", ")}
    </>
  );
}

/** Names of channels, and the way to those that the person sees. */
export function ChannelNames({ names }: { names: readonly string[] }) {
  const channels = useQuery(channelsQuery).data ?? [];
  return names.map((name, at) => (
    <Fragment key={name}>
      {at ? ", " : ""}
      {channels.some((channel) => channel.name === name) ? (
        <Link to="/channels/$name" params={{ name }} className={LINK}>
          #{name}
        </Link>
      ) : (
        `#${name}`
      )}
    </Fragment>
  ));
}
