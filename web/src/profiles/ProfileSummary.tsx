import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { MessageSquare } from "lucide-react";

import { type Profile, profileQuery } from "../api/directory";
import { Problem } from "../api/problem";
import { channelsQuery, meQuery } from "../api/queries";
import { Failed, Skeleton } from "../ui/States";
import { TrustRows } from "../workflow/TrustRows";
import { ProfileFacts } from "./ProfileFacts";
import { ProfileMenu } from "./ProfileMenu";
import { ProfileName } from "./ProfileName";
import { ProfileText } from "./ProfileText";
import { WorkingNow } from "./WorkingNow";
import { profileLink } from "./profileLink";

const BUTTON = "inline-flex h-9 flex-1 items-center justify-center gap-1.5 rounded-md border px-4 font-medium whitespace-nowrap pointer-coarse:h-11";

/** The content of a card. */
export function ProfileSummary({ name }: { name: string }) {
  const profile = useQuery(profileQuery(name));
  if (profile.error instanceof Problem && profile.error.status === 404) {
    return (
      <>
        <p className="font-semibold">@{name}</p>
        <p className="text-muted">No person or agent has this name.</p>
      </>
    );
  }
  if (profile.isError && !profile.data) return <Failed error={profile.error} retry={() => void profile.refetch()} />;
  return profile.data ? <Summary profile={profile.data} /> : <Skeleton rows={2} />;
}

function Summary({ profile }: { profile: Profile }) {
  const me = useQuery(meQuery).data;
  const isMe = me?.user.username === profile.name;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <ProfileName profile={profile} />
        </div>
        <ProfileMenu profile={profile} />
      </div>
      <WorkingNow profile={profile} />
      <ProfileText profile={profile} />
      <ProfileFacts profile={profile} />
      <TrustHere profile={profile} />
      <div className="flex gap-2">
        {isMe ? null : (
          <Link to="/dm/$name" params={{ name: profile.name }} className={`${BUTTON} border-accent bg-accent text-on-accent hover:opacity-90`}>
            <MessageSquare size={14} aria-hidden="true" />
            Message
          </Link>
        )}
        <Link {...profileLink(profile.name, me)} className={`${BUTTON} border-line bg-bg hover:bg-panel`}>
          Open profile
        </Link>
      </div>
    </div>
  );
}

/** Trust, with what the channel asks for where the card was opened in one. */
function TrustHere({ profile }: { profile: Profile }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const here = /^\/channels\/([^/]+)/.exec(path)?.[1];
  const channel = useQuery(channelsQuery).data?.find(({ name, workflow_enabled }) => name === here && workflow_enabled);
  if (profile.trust.length === 0) return null;
  return (
    <section aria-label="Trust" className="border-t border-line pt-3">
      <div className="flex items-baseline gap-2 pb-1 text-sm text-muted">
        <h3 className="flex-1 font-medium">{channel ? `Trust in #${channel.name}` : "Trust"}</h3>
        {channel ? (
          <span>
            <span aria-hidden="true" className="mr-1 inline-block h-3 w-0.5 bg-accent align-middle" />
            needed to act alone
          </span>
        ) : null}
      </div>
      <TrustRows trust={profile.trust} channels={channel ? [channel] : []} isNarrow />
    </section>
  );
}
