import { useQuery } from "@tanstack/react-query";
import { Inbox, Landmark, MessagesSquare, Plus, Search } from "lucide-react";
import { useRef } from "react";

import { presencesQuery } from "../api/presences";
import { threadsQuery } from "../api/queries";
import { isMac } from "../lib/platform";
import { useStore } from "../lib/store";
import { useIdle } from "../lib/useIdle";
import { useDraftedPlaces } from "../messages/draftMarks";
import { IconButton } from "../ui/Button";
import type { PresenceState } from "../ui/PresenceDot";
import { ConversationList } from "./ConversationList";
import { SidebarFoot } from "./SidebarFoot";
import { SidebarRow } from "./SidebarRow";
import { making } from "./making";
import { palette } from "./palette";
import { useRoom } from "./useRoom";
import { useSections } from "./useSections";
import { useShares } from "./useShares";
import { waiting } from "./waiting";

const UNKNOWN: ReadonlyMap<string, PresenceState> = new Map();

function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <IconButton label={label} className="-mr-1.5 hover:bg-selected" onClick={onClick}>
      <Plus size={14} aria-hidden="true" />
    </IconButton>
  );
}

/** Links to every page, with what is new there. */
export function Sidebar() {
  const sections = useSections();
  const threads = useQuery(threadsQuery).data?.items ?? [];
  const waits = useStore(waiting);
  const isIdle = useIdle();
  const presences = useQuery({ ...presencesQuery, enabled: isIdle }).data ?? UNKNOWN;
  const shown = { presences, drafts: useDraftedPlaces() };
  const list = useRef<HTMLDivElement>(null);
  const shares = useShares(sections, useRoom(list));
  return (
    <nav aria-label="Main" className="flex h-full w-60 flex-col overflow-y-auto border-r border-line bg-panel">
      <div className="flex h-12 shrink-0 items-center gap-2 px-3 font-semibold">
        <Landmark size={18} aria-hidden="true" />
        <span className="flex-1">Stoa</span>
      </div>
      <div className="px-2 pb-1">
        <button
          type="button"
          onClick={() => palette.set(true)}
          className="flex h-7 w-full items-center gap-2 rounded-md border border-line bg-bg px-2 text-muted pointer-coarse:h-11"
        >
          <Search size={14} aria-hidden="true" />
          <span className="min-w-0 flex-1 truncate text-left">Search or jump to</span>
          <kbd className="rounded-sm border border-line px-1 font-sans text-xs whitespace-nowrap touch:hidden">{isMac ? "⌘K" : "Ctrl K"}</kbd>
        </button>
      </div>
      {/* In a low window the whole sidebar scrolls, and this part is still of use. */}
      <div ref={list} data-scroller className="min-h-48 flex-1 overflow-y-auto px-2 pb-2">
        <ul>
          <SidebarRow to="/inbox" icon={<Inbox size={16} />} count={waits} unit="waiting" isForMe>
            Inbox
          </SidebarRow>
          <SidebarRow to="/threads" icon={<MessagesSquare size={16} />} count={threads.length}>
            Threads
          </SidebarRow>
        </ul>
        {sections.starred.length > 0 ? <ConversationList title="Starred" rows={sections.starred} share={shares.starred} {...shown} /> : null}
        <ConversationList title="Channels" to="/channels" rows={sections.channels} share={shares.channels} {...shown} action={<AddButton label="New channel" onClick={() => making.set("channel")} />} />
        <ConversationList title="Direct messages" rows={sections.people} share={shares.people} {...shown} action={<AddButton label="New direct message" onClick={() => palette.set(true)} />} />
        <ConversationList title="Agents" to="/agents" rows={sections.agents} share={shares.agents} {...shown} action={<AddButton label="New agent" onClick={() => making.set("agent")} />} />
      </div>
      <SidebarFoot />
    </nav>
  );
}
