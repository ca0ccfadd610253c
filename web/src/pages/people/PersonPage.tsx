import { useQuery } from "@tanstack/react-query";
import { Link, getRouteApi } from "@tanstack/react-router";
import { MessageSquare } from "lucide-react";

import { type Profile, profileQuery } from "../../api/directory";
import { Problem } from "../../api/problem";
import { channelsQuery, meQuery } from "../../api/queries";
import { ProfileFacts } from "../../profiles/ProfileFacts";
import { ProfileName } from "../../profiles/ProfileName";
import { ProfileText } from "../../profiles/ProfileText";
import { WorkingNow } from "../../profiles/WorkingNow";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { Failed, Skeleton } from "../../ui/States";
import { TrustRows } from "../../workflow/TrustRows";
import { NotFound } from "../NotFound";

const route = getRouteApi("/people/$name");
const BUTTON = "inline-flex h-7 items-center gap-1.5 rounded-md border border-line bg-bg px-2.5 font-medium whitespace-nowrap hover:bg-panel pointer-coarse:h-11";

/** What everybody may know of a person or an agent. */
export function PersonPage() {
  const { name } = route.useParams();
  const profile = useQuery(profileQuery(name));
  if (profile.error instanceof Problem && profile.error.status === 404) return <NotFound />;
  if (profile.isError && !profile.data) return <Failed error={profile.error} retry={() => void profile.refetch()} />;
  if (!profile.data) {
    return (
      <Page title={`@${name}`}>
        <Skeleton rows={3} />
      </Page>
    );
  }
  return <PublicProfile key={name} profile={profile.data} />;
}

function PublicProfile({ profile }: { profile: Profile }) {
  const { name } = profile;
  const me = useQuery(meQuery).data;
  const shared = useQuery(channelsQuery).data?.filter((channel) => profile.shared_channels.includes(channel.name)) ?? [];
  const isOwnAgent = me !== undefined && profile.owner === me.user.username;
  return (
    <Page
      title={profile.display_name || profile.name}
      header={(title) => (
        <header className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-6 py-4 max-md:pr-4 max-md:pl-14">
          <div className="min-w-0 flex-1 basis-48">
            <ProfileName profile={profile} title={title} />
          </div>
          <div className="flex flex-wrap items-center gap-2">
            <WorkingNow profile={profile} />
            {isOwnAgent ? (
              <Link to="/agents/$name" params={{ name }} className={BUTTON}>
                Manage agent
              </Link>
            ) : null}
            {me?.user.username === name ? (
              <Link to="/settings/profile" className={BUTTON}>
                Edit profile
              </Link>
            ) : (
              <Link to="/dm/$name" params={{ name }} className={BUTTON}>
                <MessageSquare size={14} aria-hidden="true" />
                Message
              </Link>
            )}
          </div>
        </header>
      )}
    >
      <Section title="About">
        <ProfileText profile={profile} />
        <ProfileFacts profile={profile} isFull />
      </Section>
      {profile.kind === "agent" ? (
        <Section
          title="Trust"
          description="From 0 to 1 for each kind of work. The marks show what the channels that you share ask for before the agent may act alone."
        >
          {profile.trust.length ? (
            <TrustRows trust={profile.trust} channels={shared} />
          ) : (
            <p className="text-muted">No trust yet. It grows when people approve work that @{name} proposes.</p>
          )}
        </Section>
      ) : null}
    </Page>
  );
}
