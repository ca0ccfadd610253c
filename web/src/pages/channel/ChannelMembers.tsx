import type { ChannelDetails, Me, Member } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { type Column, DataTable } from "../../ui/DataTable";
import { PersonName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Time } from "../../ui/Time";
import { AddMember } from "./AddMember";
import { RemoveMember } from "./RemoveMember";
import { memberRights } from "./memberRights";

/** Who is in the channel. */
export function ChannelMembers({ details, me }: { details: ChannelDetails; me: Me }) {
  const { channel, members } = details;
  const rights = memberRights(details, me);
  const columns: Array<Column<Member>> = [
    {
      title: "Member",
      cell: (member) => (
        <span className="flex flex-wrap items-center gap-2">
          <Avatar name={member.name} kind={member.kind} displayName={member.display_name} size="small" />
          <PersonName name={member.name} />
          {member.name === channel.owner ? <span className="text-muted">owner</span> : null}
          {member.name === me.user.username ? <span className="text-muted">you</span> : null}
        </span>
      ),
    },
    {
      title: "Kind",
      cell: ({ kind, owner }) => (owner ? <span className="whitespace-nowrap"><PersonName name={owner} />’s {kind}</span> : kind),
    },
    { title: "Joined", cell: (member) => <Time at={member.joined_at} /> },
    {
      title: "Last seen",
      cell: (member) => (member.last_seen_at ? <Time at={member.last_seen_at} /> : <span className="text-muted">never</span>),
    },
    {
      title: "Actions",
      isTitleHidden: true,
      isEnd: true,
      cell: (member) =>
        rights.mayRemove(member) ? <RemoveMember details={details} member={member} isOwn={rights.own.includes(member.name)} /> : null,
    },
  ];
  const hidden = channel.member_count - members.length;
  return (
    <Section title="Members" description={`${channel.member_count} in total`}>
      {rights.mayAdd ? <AddMember details={details} rights={rights} /> : null}
      <DataTable label="Members" columns={columns} rows={members} keyOf={(member) => member.name} />
      {hidden > 0 ? <p className="text-muted">{hidden} more are not shown.</p> : null}
    </Section>
  );
}
