import type { ReactNode } from "react";

import type { Author } from "../api/types";
import { hasProfile } from "./AuthorName";
import { Avatar } from "./Avatar";
import { classes } from "./classes";

type Who = Pick<Author, "name" | "kind" | "display_name">;

interface AvatarButtonProps {
  who: Who;
  /** -1 where the keyboard has another way to the card. */
  tabIndex?: number;
}

/** A small avatar that opens the card of its person or agent. */
export function AvatarButton({ who, tabIndex }: AvatarButtonProps) {
  const avatar = <Avatar name={who.name} kind={who.kind} displayName={who.display_name} size="small" />;
  if (!hasProfile(who)) return avatar;
  const label = `Profile of @${who.name}`;
  return (
    <button
      type="button"
      data-profile={who.name}
      aria-haspopup="dialog"
      aria-label={label}
      title={label}
      tabIndex={tabIndex}
      // Larger than the avatar, so that a finger hits it.
      className="-m-0.5 flex shrink-0 p-0.5 pointer-coarse:-m-3 pointer-coarse:p-3"
    >
      {avatar}
    </button>
  );
}

interface NameButtonProps extends AvatarButtonProps {
  className?: string;
  children: ReactNode;
}

/** A name within other text, which opens the card. */
export function NameButton({ who, tabIndex, className, children }: NameButtonProps) {
  if (!hasProfile(who)) return <span className={className}>{children}</span>;
  return (
    <button
      type="button"
      data-profile={who.name}
      aria-haspopup="dialog"
      tabIndex={tabIndex}
      className={classes("min-h-6 text-start hover:text-fg hover:underline", className)}
    >
      {children}
    </button>
  );
}
