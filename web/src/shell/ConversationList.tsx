import type { ReactNode } from "react";

import type { PresenceState } from "../ui/PresenceDot";
import { VirtualList } from "../ui/VirtualList";
import { ConversationLink } from "./ConversationLink";
import { SidebarSection } from "./SidebarSection";
import type { SectionName } from "./collapsed";
import { type SidebarConversation, summaryOf } from "./sections";

interface ConversationListProps {
  title: SectionName;
  to?: "/channels" | "/agents";
  action?: ReactNode;
  rows: readonly SidebarConversation[];
  presences: ReadonlyMap<string, PresenceState>;
  drafts: ReadonlySet<string>;
}

/** A section of conversations. */
export function ConversationList({ title, to, action, rows, presences, drafts }: ConversationListProps) {
  return (
    <SidebarSection title={title} to={to} action={action} summary={summaryOf(rows, presences)}>
      <VirtualList rows={rows} keyOf={({ id }) => id} size={28} className="flex flex-col">
        {(row) => <ConversationLink row={row} presences={presences} drafts={drafts} />}
      </VirtualList>
    </SidebarSection>
  );
}
