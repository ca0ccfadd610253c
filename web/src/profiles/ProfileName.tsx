import type { ReactNode } from "react";

import type { Profile } from "../api/directory";
import { Avatar } from "../ui/Avatar";
import { PresenceDot } from "../ui/PresenceDot";
import { MOST_OF_LINE, Shown } from "../ui/Shown";

/** Avatar with the presence dot. */
export function ProfileAvatar({ profile }: { profile: Profile }) {
  return (
    <span className="relative shrink-0">
      <Avatar name={profile.name} kind={profile.kind} displayName={profile.display_name} size="large" />
      <span className="absolute -right-1 -bottom-1 rounded-full bg-bg p-0.5">
        <PresenceDot presence={profile.presence ?? "offline"} />
      </span>
    </span>
  );
}

/** Who it is: everybody can choose any display name, so the handle stands below it. */
export function ProfileName({ profile, title }: { profile: Profile; title?: ReactNode }) {
  return (
    <div className="flex min-w-0 items-center gap-3">
      <ProfileAvatar profile={profile} />
      <div className="min-w-0">
        <div className="flex flex-wrap items-baseline gap-x-2">
          {title ?? (
            <h2 className="min-w-0 text-lg font-semibold [overflow-wrap:anywhere]">
              <bdi>
                <Shown text={profile.display_name || profile.name} most={MOST_OF_LINE} />
              </bdi>
            </h2>
          )}
          {profile.kind === "agent" ? <span className="text-muted">agent</span> : null}
        </div>
        <p className="text-muted">@{profile.name}</p>
      </div>
    </div>
  );
}
