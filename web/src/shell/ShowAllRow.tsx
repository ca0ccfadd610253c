import { type SectionName, toggleWhole } from "./collapsed";
import type { SidebarConversation } from "./sections";

interface ShowAllRowProps {
  title: SectionName;
  rows: readonly SidebarConversation[];
  shown: readonly SidebarConversation[];
}

/** At the end of a long section: shows all of it, or the few that are wanted most. The browser remembers it. */
export function ShowAllRow({ title, rows, shown }: ShowAllRowProps) {
  const isWhole = shown.length === rows.length;
  const unread = rows.filter((row) => row.unread > 0 && !shown.includes(row)).length;
  return (
    <button
      type="button"
      aria-expanded={isWhole}
      onClick={() => toggleWhole(title)}
      className="flex h-7 w-full items-center gap-2.5 rounded-md pr-2 pl-9.5 text-left text-sm text-muted hover:bg-selected hover:text-fg pointer-coarse:h-11"
    >
      <span className="flex-1">{isWhole ? "Show fewer" : `Show all ${rows.length}`}</span>
      <span className="sr-only">{title.toLowerCase()}</span>
      {unread > 0 ? <span className="text-xs font-semibold text-fg">{unread} unread</span> : null}
    </button>
  );
}
