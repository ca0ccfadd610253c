import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";

import type { ApiKey } from "../api/account";
import { channelsQuery, meQuery } from "../api/queries";

const LINK = "-my-0.5 inline-flex min-h-6 items-center text-accent hover:underline";

/** The name of an agent, and the way to its page where the person has one: those of others and those that are gone have none. */
export function AgentName({ name }: { name: string }) {
  const isOwn = useQuery(meQuery).data?.agents.some((agent) => agent.name === name) ?? false;
  return isOwn ? (
    <Link to="/agents/$name" params={{ name }} className={LINK}>
      @{name}
    </Link>
  ) : (
    `@${name}`
  );
}

/** The name of somebody who is there, and the way to them: own agents have a page, with everybody else one can talk. */
export function PersonName({ name }: { name: string }) {
  const me = useQuery(meQuery).data;
  if (!me || me.user.username === name || me.agents.some((agent) => agent.name === name)) return <AgentName name={name} />;
  return (
    <Link to="/dm/$name" params={{ name }} className={LINK}>
      @{name}
    </Link>
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
