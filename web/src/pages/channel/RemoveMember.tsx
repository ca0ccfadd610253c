import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { addMember, removeMember } from "../../api/members";
import { sentenceOf } from "../../api/problem";
import type { ChannelDetails, Member } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { toast } from "../../ui/Toasts";

interface RemoveMemberProps {
  details: ChannelDetails;
  member: Member;
  /** The person's own agent, which can join again by itself. */
  isOwn: boolean;
  /** Always asks first. Otherwise it asks only where undoing would not bring everybody back. */
  isAsked?: boolean;
}

/** Removes a member from a channel. */
export function RemoveMember({ details, member, isOwn, isAsked }: RemoveMemberProps) {
  const client = useQueryClient();
  const channel = details.channel.name;
  const { name } = member;
  const agents = details.members.filter(({ owner }) => owner === name);
  const [isAsking, setAsking] = useState(false);
  const say = (undo?: () => void) =>
    toast(`@${name} removed from #${channel}`, undo ? { undo } : undefined);
  const tell = (error: unknown) => toast(sentenceOf(error), { isError: true });
  const remove = useMutation({
    mutationFn: () => removeMember(client, channel, name),
    onSuccess: () => say(() => void addMember(client, channel, name).catch(tell)),
    onError: tell,
  });
  return (
    <>
      <Button
        size="row"
        disabled={remove.isPending}
        aria-label={`Remove ${name}`}
        // Adding a person again does not add their agents.
        onClick={() => (isAsked || agents.length ? setAsking(true) : remove.mutate())}
      >
        Remove
      </Button>
      {isAsking ? (
        <Confirm
          title={`Remove ${name}?`}
          action="Remove"
          onClose={() => setAsking(false)}
          onConfirm={() => removeMember(client, channel, name).then(() => say())}
        >
          <p>
            {isOwn ? "It can join again by itself." : "They cannot return until someone adds them again."}
            {agents.length ? ` Their agents will leave too: ${agents.map((agent) => `@${agent.name}`).join(", ")}.` : null}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
