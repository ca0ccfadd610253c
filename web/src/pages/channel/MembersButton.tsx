import { Suspense, lazy, useState } from "react";

import type { ChannelDetails } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { classes } from "../../ui/classes";

const MembersDialog = lazy(() => import("./MembersDialog"));
const MOST_AVATARS = 4;

const MEMBERS = "inline-flex h-7 items-center gap-1.5 rounded-md px-1.5 text-muted hover:bg-panel hover:text-fg max-sm:hidden pointer-coarse:h-11";
/** Higher than its line, so that a finger hits it. What is above and below it does nothing. */
const WORDS = "-my-1 py-1 hover:text-fg hover:underline sm:hidden pointer-coarse:-my-3 pointer-coarse:py-3";

interface MembersButtonProps {
  details: ChannelDetails;
  /** For the line below the title of a phone, which has no room beside the title. */
  isLine?: boolean;
}

/** Some of the members and how many there are; opens the list of all. */
export function MembersButton({ details, isLine = false }: MembersButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const { member_count: count } = details.channel;
  const words = `${count} ${count === 1 ? "member" : "members"}`;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={words}
        title="Members"
        onClick={() => setOpen(true)}
        className={isLine ? WORDS : MEMBERS}
      >
        {isLine ? (
          words
        ) : (
          <>
            {/* The ring parts one avatar from the next, and leaves its letter whole. */}
            <span className="flex">
              {details.members.slice(0, MOST_AVATARS).map(({ name, kind, display_name }) => (
                <span key={name} className={classes("inline-flex ring-2 ring-bg", kind === "user" ? "rounded-full" : "rounded-sm")}>
                  <Avatar name={name} kind={kind} displayName={display_name} size="small" />
                </span>
              ))}
            </span>
            {count}
          </>
        )}
      </button>
      {isOpen ? (
        <Suspense>
          <MembersDialog details={details} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
