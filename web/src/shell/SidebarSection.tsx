import { Link } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import type { ReactNode } from "react";

import { useStore } from "../lib/store";
import { classes } from "../ui/classes";
import { type SectionName, collapsed, toggleSection } from "./collapsed";

interface SidebarSectionProps {
  title: SectionName;
  /** The page that lists all of it. */
  to?: "/channels" | "/agents";
  /** What it says while it is collapsed. */
  summary?: string;
  action?: ReactNode;
  children: ReactNode;
}

const TOGGLE = "flex h-7 items-center gap-1.5 rounded-md hover:text-fg pointer-coarse:h-11";

/** Links of the sidebar under a heading that collapses them. */
export function SidebarSection({ title, to, summary, action, children }: SidebarSectionProps) {
  const isCollapsed = useStore(collapsed, (names) => names.includes(title));
  const chevron = <ChevronDown size={14} aria-hidden="true" className={classes("shrink-0", isCollapsed && "-rotate-90")} />;
  const toggle = { type: "button", "aria-expanded": !isCollapsed, onClick: () => toggleSection(title) } as const;
  return (
    <section aria-label={title}>
      <div className="flex min-h-7 items-center gap-1 pr-2 pl-1.5 text-sm text-muted">
        <h2 className="flex min-w-0 flex-1 items-center">
          {to ? (
            <>
              <button {...toggle} aria-label={`${title} section`} className={classes(TOGGLE, "w-6 justify-center pointer-coarse:w-11")}>
                {chevron}
              </button>
              <Link to={to} activeOptions={{ exact: true }} title={`All ${title.toLowerCase()}`} className="flex h-7 items-center hover:text-fg hover:underline aria-[current=page]:text-fg pointer-coarse:h-11">
                {title}
              </Link>
            </>
          ) : (
            <button {...toggle} className={classes(TOGGLE, "px-1.25")}>
              {chevron}
              {title}
            </button>
          )}
        </h2>
        {isCollapsed && summary ? <span className="text-xs">{summary}</span> : null}
        {action}
      </div>
      {isCollapsed ? null : children}
    </section>
  );
}
