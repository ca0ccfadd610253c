import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { presencesQuery } from "../../api/presences";
import { meQuery } from "../../api/queries";
import type { ChannelDetails, Member } from "../../api/types";
import { AuthorName } from "../../ui/AuthorName";
import { Avatar } from "../../ui/Avatar";
import { Dialog } from "../../ui/Dialog";
import { PersonName } from "../../ui/Names";
import { PresenceDot } from "../../ui/PresenceDot";
import { TextField } from "../../ui/TextField";
import { VirtualList } from "../../ui/VirtualList";
import { AddMember } from "./AddMember";
import { RemoveMember } from "./RemoveMember";
import { filterMembers } from "./filterMembers";
import { memberRights } from "./memberRights";

const ROW = 48;

/** Who is in the channel, with ways to add and remove members for those who may. */
export default function MembersDialog({ details, onClose }: { details: ChannelDetails; onClose: () => void }) {
  const { channel, members } = details;
  const me = useQuery(meQuery).data;
  const presences = useQuery(presencesQuery).data;
  const [typed, setTyped] = useState("");
  const rights = me ? memberRights(details, me) : undefined;
  const shown = filterMembers(members, typed);
  const hidden = channel.member_count - members.length;
  const row = (member: Member) => {
    const presence = presences?.get(member.name);
    return (
      <div className="flex min-h-12 items-center gap-3 py-1">
        <span className="relative shrink-0">
          <Avatar name={member.name} kind={member.kind} displayName={member.display_name} />
          {presence ? (
            <span className="absolute -right-1 -bottom-1 rounded-full bg-bg p-0.5">
              <PresenceDot presence={presence} />
            </span>
          ) : null}
        </span>
        <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
          <AuthorName from={member} />
          {member.owner ? (
            <span className="text-muted">
              of <PersonName name={member.owner} />
            </span>
          ) : null}
          {member.name === channel.owner ? <span className="text-muted">channel owner</span> : null}
          {member.name === me?.user.username ? <span className="text-muted">you</span> : null}
        </span>
        {presence === "working" || presence === "paused" ? <span className="text-sm text-muted">{presence}</span> : null}
        {rights?.mayRemove(member) ? (
          <RemoveMember details={details} member={member} isOwn={rights.own.includes(member.name)} isAsked />
        ) : null}
      </div>
    );
  };
  return (
    <Dialog title={`Members of #${channel.name}`} onClose={onClose}>
      <div className="flex min-h-72 flex-col gap-4">
        {rights?.mayAdd ? <AddMember details={details} rights={rights} /> : null}
        <TextField label="Filter" type="search" autoComplete="off" placeholder="Name or owner" value={typed} onChange={setTyped} />
        {shown.length === 0 ? <p className="text-muted">No member matches “{typed.trim()}”.</p> : null}
        <VirtualList rows={shown} keyOf={({ name }) => name} size={ROW} rowClass="border-b border-line last:border-b-0">
          {row}
        </VirtualList>
        {hidden > 0 ? <p className="text-muted">{hidden} more are not shown.</p> : null}
      </div>
    </Dialog>
  );
}
