import { Users } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { ChannelDetails } from "../../api/types";
import { Avatar } from "../../ui/Avatar";

const MembersDialog = lazy(() => import("./MembersDialog"));
const MOST_AVATARS = 4;

/** Some of the members and how many there are; opens the list of all. */
export function MembersButton({ details }: { details: ChannelDetails }) {
  const [isOpen, setOpen] = useState(false);
  const { member_count: count } = details.channel;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`${count} ${count === 1 ? "member" : "members"}`}
        title="Members"
        onClick={() => setOpen(true)}
        className="inline-flex h-7 items-center gap-1.5 rounded-md px-1.5 text-muted hover:bg-panel hover:text-fg pointer-coarse:h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center"
      >
        <span className="flex -space-x-1.5 max-sm:hidden">
          {details.members.slice(0, MOST_AVATARS).map(({ name, kind, display_name }) => (
            <Avatar key={name} name={name} kind={kind} displayName={display_name} size="small" />
          ))}
        </span>
        <Users size={16} aria-hidden="true" className="sm:hidden" />
        <span className="max-sm:hidden">{count}</span>
      </button>
      {isOpen ? (
        <Suspense>
          <MembersDialog details={details} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
