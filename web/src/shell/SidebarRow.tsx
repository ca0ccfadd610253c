import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { classes } from "../ui/classes";

const ROW =
  "group flex h-7 items-center gap-2.5 rounded-md px-2 hover:bg-selected hover:text-fg pointer-coarse:h-11 " +
  "aria-[current=page]:bg-selected aria-[current=page]:text-fg aria-[current=page]:font-medium";
const MOST_COUNTED = 99;

type SidebarRowProps = LinkProps & {
  icon: ReactNode;
  children: ReactNode;
  count?: number;
  /** What the count counts. */
  unit?: string;
  /** Whether the count is for this person in particular. */
  isForMe?: boolean;
  /** What happens there now. */
  note?: string;
  /** A mark after the name. */
  mark?: ReactNode;
};

/** A row of the sidebar. */
export function SidebarRow(props: SidebarRowProps) {
  return (
    <li>
      <SidebarLink {...props} />
    </li>
  );
}

/** A link in the sidebar, with the number of what is new. */
export function SidebarLink({ icon, children, count, unit = "unread", isForMe, note, mark, ...link }: SidebarRowProps) {
  return (
    <Link {...link} className={classes(ROW, count ? "font-semibold text-fg" : "text-muted")}>
      <span aria-hidden="true" className="relative flex w-5 shrink-0 justify-center">
        {icon}
      </span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {mark}
      {note ? <span className="text-xs font-normal">{note}</span> : null}
      {count ? (
        <span className={classes("text-xs tabular-nums", isForMe && "min-w-5 rounded-full bg-accent px-1.5 text-center leading-5 text-on-accent")}>
          {count > MOST_COUNTED ? `${MOST_COUNTED}+` : count}
          <span className="sr-only"> {unit}</span>
        </span>
      ) : null}
    </Link>
  );
}
