import { useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { placeKey } from "../api/types";
import { useStore } from "../lib/store";
import type { PresenceState } from "../ui/PresenceDot";
import { VirtualList } from "../ui/VirtualList";
import { ConversationLink } from "./ConversationLink";
import { ShowAllRow } from "./ShowAllRow";
import { SidebarSection } from "./SidebarSection";
import { type SectionName, whole } from "./collapsed";
import { type SidebarConversation, pathOf, summaryOf } from "./sections";
import { rowsWithin } from "./shares";

interface ConversationListProps {
  title: SectionName;
  to?: "/channels" | "/agents";
  action?: ReactNode;
  rows: readonly SidebarConversation[];
  /** How many rows it may take. */
  share: number;
  presences: ReadonlyMap<string, PresenceState>;
  drafts: ReadonlySet<string>;
}

/** A section of conversations. A long one shows those that are wanted most. */
export function ConversationList({ title, to, action, rows, share, presences, drafts }: ConversationListProps) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const isWhole = useStore(whole, (names) => names.includes(title));
  const isOpen = (row: SidebarConversation) => path === pathOf(row) || path.startsWith(`${pathOf(row)}/`);
  const shown = isWhole ? rows : rowsWithin(rows, share, (row) => isOpen(row) || drafts.has(placeKey(row)));
  return (
    <SidebarSection title={title} to={to} action={action} summary={summaryOf(rows, presences)}>
      <VirtualList rows={shown} keyOf={({ id }) => id} size={28} className="flex flex-col">
        {(row) => <ConversationLink row={row} presences={presences} drafts={drafts} />}
      </VirtualList>
      {rows.length > share ? <ShowAllRow title={title} rows={rows} shown={shown} /> : null}
    </SidebarSection>
  );
}
