import { Hash, Lock, PencilLine } from "lucide-react";

import { placeKey } from "../api/types";
import { Avatar } from "../ui/Avatar";
import { PresenceDot, type PresenceState } from "../ui/PresenceDot";
import { SidebarLink } from "./SidebarRow";
import { type SidebarConversation, presenceOf } from "./sections";

/** While one writes in a conversation, its draft is in sight anyway. */
const DRAFT = (
  <span title="Draft" className="group-aria-[current=page]:hidden">
    <PencilLine size={13} aria-hidden="true" />
    <span className="sr-only">draft</span>
  </span>
);

interface ConversationLinkProps {
  row: SidebarConversation;
  presences: ReadonlyMap<string, PresenceState>;
  drafts: ReadonlySet<string>;
}

/** A channel, or somebody to write to, in the sidebar. */
export function ConversationLink({ row, presences, drafts }: ConversationLinkProps) {
  const mark = drafts.has(placeKey(row)) ? DRAFT : null;
  if (row.kind === "channel") {
    const icon = row.isPublic ? <Hash size={15} /> : <Lock size={14} />;
    return (
      <SidebarLink to="/channels/$name" params={{ name: row.name }} icon={icon} count={row.unread} mark={mark}>
        {row.name}
      </SidebarLink>
    );
  }
  const presence = presenceOf(row, presences.get(row.name));
  const hasWord = presence === "working" || presence === "paused";
  const icon = (
    <>
      <Avatar name={row.name} kind={row.principal ?? "user"} displayName={row.displayName} size="small" />
      {row.principal === "system" ? null : <PresenceDot presence={presence} isDecorative className="absolute -right-0.5 -bottom-0.5 rounded-full bg-panel" />}
    </>
  );
  return (
    <SidebarLink to="/dm/$name" params={{ name: row.name }} icon={icon} count={row.unread} isForMe note={hasWord ? presence : undefined} mark={mark}>
      {row.name}
    </SidebarLink>
  );
}
