import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { classes } from "../ui/classes";

const ROW =
  "flex h-7 items-center gap-2.5 rounded-md px-2 hover:bg-selected hover:text-fg pointer-coarse:h-11 " +
  "aria-[current=page]:bg-selected aria-[current=page]:text-fg aria-[current=page]:font-medium";

type SidebarRowProps = LinkProps & {
  icon: ReactNode;
  children: ReactNode;
  count?: number;
  /** What happens there now. */
  note?: string;
  isBold?: boolean;
};

/** A row of the sidebar. */
export function SidebarRow(props: SidebarRowProps) {
  return (
    <li>
      <SidebarLink {...props} />
    </li>
  );
}

/** A link in the sidebar, with the number of unread messages. */
export function SidebarLink({ icon, children, count, note, isBold, ...link }: SidebarRowProps) {
  return (
    <Link {...link} className={classes(ROW, isBold ? "font-semibold text-fg" : "text-muted")}>
      <span aria-hidden="true" className="flex w-5 shrink-0 justify-center">
        {icon}
      </span>
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {count ? (
        <span className="text-xs tabular-nums">
          {count > 99 ? "99+" : count}
          <span className="sr-only"> unread</span>
        </span>
      ) : null}
      {note ? <span className="text-xs">{note}</span> : null}
    </Link>
  );
}
