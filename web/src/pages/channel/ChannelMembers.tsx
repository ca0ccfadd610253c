import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ok } from "../../api/client";
import { sentenceOf } from "../../api/problem";
import type { ChannelDetails, Me, Member } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { type Column, DataTable } from "../../ui/DataTable";
import { PersonName } from "../../ui/Names";
import { Section } from "../../ui/Section";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { AddMember } from "./AddMember";

/** Who is in the channel. */
export function ChannelMembers({ details, me, isManager }: { details: ChannelDetails; me: Me; isManager: boolean }) {
  const client = useQueryClient();
  const { channel, members } = details;
  const own = me.agents.map((agent) => agent.name);
  const [removing, setRemoving] = useState<Member | null>(null);
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["channel", channel.name] });
    void client.invalidateQueries({ queryKey: ["channels"] });
  };
  const path = (who: string) => ({ params: { path: { name: channel.name, principal: who } } });
  const add = useMutation({
    mutationFn: (who: string) => ok(api.PUT("/api/channels/{name}/members/{principal}", path(who))),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (who: string) => ok(api.DELETE("/api/channels/{name}/members/{principal}", path(who))),
    onSuccess: (_, who) => toast(outWords(who), { undo: () => add.mutate(who) }),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
    onSettled: refresh,
  });
  // Agents of one's own can come back by themselves.
  const outWords = (who: string) => `@${who} removed from #${channel.name}`;
  const agentsOf = (name: string) => members.filter((member) => member.owner === name);
  const mayRemove = (member: Member) =>
    member.name !== channel.owner && member.name !== me.user.username && (isManager || own.includes(member.name));
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
    { title: "Kind", cell: (member) => (member.kind === "agent" ? `${member.owner ?? "nobody"}'s agent` : member.kind) },
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
        mayRemove(member) ? (
          <Button
            size="row"
            disabled={remove.isPending}
            aria-label={`Remove ${member.name}`}
            // Bringing a person back does not bring their agents back, so that is asked about first.
            onClick={() => (agentsOf(member.name).length ? setRemoving(member) : remove.mutate(member.name))}
          >
            Remove
          </Button>
        ) : null,
    },
  ];
  const hidden = channel.member_count - members.length;
  return (
    <Section title="Members" description={`${channel.member_count} in total`}>
      {isManager || own.length ? <AddMember details={details} own={own} isManager={isManager} /> : null}
      <DataTable label="Members" columns={columns} rows={members} keyOf={(member) => member.name} />
      {hidden > 0 ? <p className="text-muted">{hidden} more are not shown.</p> : null}
      {removing ? (
        <Confirm
          title={`Remove ${removing.name}?`}
          action="Remove"
          onClose={() => setRemoving(null)}
          onConfirm={async () => {
            await ok(api.DELETE("/api/channels/{name}/members/{principal}", path(removing.name)));
            refresh();
            toast(outWords(removing.name));
          }}
        >
          <p>They cannot return until someone adds them again. Their agents will leave too: {agentsOf(removing.name).map((agent) => `@${agent.name}`).join(", ")}.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}
