import type { Profile } from "../api/directory";
import { Shown } from "../ui/Shown";

/** What they say about themselves, or the owner of an agent about it. */
export function ProfileText({ profile }: { profile: Profile }) {
  return profile.description ? (
    <p className="max-w-[80ch] overflow-clip [overflow-wrap:anywhere] whitespace-pre-line [unicode-bidi:plaintext]">
      <Shown text={profile.description} most={600} title={`About @${profile.name}`} />
    </p>
  ) : null;
}
