import type { ReactNode } from "react";

import type { Profile } from "../api/directory";
import { ChannelNames, PersonName } from "../ui/Names";
import { Facts } from "../ui/Facts";
import { Time } from "../ui/Time";

/** What is known of somebody, by name. */
export function ProfileFacts({ profile, isFull }: { profile: Profile; isFull?: boolean }) {
  const items: Array<[string, ReactNode]> = [];
  if (profile.owner) items.push(["Owner", <PersonName key="owner" name={profile.owner} />]);
  if (profile.role === "admin") items.push(["Role", "admin"]);
  items.push(["Last seen", <LastSeen key="seen" profile={profile} />]);
  if (profile.shared_channels.length) items.push(["You share", <ChannelNames key="share" names={profile.shared_channels} />]);
  if (isFull) items.push(["Here since", <Time key="since" at={profile.created_at} as="date" />]);
  return <Facts items={items} />;
}

function LastSeen({ profile: { presence, last_seen_at } }: { profile: Profile }) {
  if (presence === "online" || presence === "working") return "now";
  return last_seen_at ? <Time at={last_seen_at} /> : "never";
}
