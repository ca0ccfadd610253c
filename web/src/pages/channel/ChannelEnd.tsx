import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, ok } from "../../api/client";
import { sentenceOf } from "../../api/problem";
import type { ChannelDetails, Me } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { Section } from "../../ui/Section";
import { toast } from "../../ui/Toasts";

/** The channel that everybody is in. */
const GENERAL = "general";

/** Leaving the channel, and taking it away. */
export function ChannelEnd({ details, me, isManager }: { details: ChannelDetails; me: Me; isManager: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { channel, members } = details;
  const { name } = channel;
  const [asking, setAsking] = useState<"leave" | "delete" | null>(null);
  const isOwner = channel.owner === me.user.username;
  const agents = members.filter((member) => member.owner === me.user.username).map((member) => `@${member.name}`);
  const params = { params: { path: { name } } };
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["channels"] });
    void client.invalidateQueries({ queryKey: ["unread"] });
    void client.invalidateQueries({ queryKey: ["channel", name] });
  };
  const join = useMutation({
    mutationFn: () => ok(api.POST("/api/channels/{name}/join", params)),
    onError: (error) => toast(sentenceOf(error), { isError: true }),
    onSettled: refresh,
  });
  // Agents do not come back by joining again, and a private channel is not joined again. All else is taken back easily, so nobody is asked.
  const isTakenBack = channel.public && agents.length === 0;
  const leave = async () => {
    await ok(api.POST("/api/channels/{name}/leave", params));
    await navigate({ to: "/channels" });
    refresh();
    toast(`Left #${name}`, isTakenBack ? { undo: () => join.mutate() } : {});
  };
  const remove = async () => {
    await ok(api.DELETE("/api/channels/{name}", params));
    await navigate({ to: "/channels" });
    client.removeQueries({ queryKey: ["channel", name] });
    client.removeQueries({ queryKey: ["conversation", `channel:${name}`] });
    refresh();
    toast(`#${name} deleted`);
  };
  return (
    <>
      <Section title={channel.is_member ? "Leave" : "Join"}>
        {isOwner ? (
          <p>Owners cannot leave their channel. Transfer or delete it first.</p>
        ) : channel.is_member ? (
          <>
            <p>
              {agents.length
                ? `Your agents will leave too: ${agents.join(", ")}.`
                : "You have no agents in this channel."}
              {channel.public ? "" : " This channel is private: to return, a member must add you."}
            </p>
            <div>
              <Button
                onClick={() =>
                  isTakenBack ? void leave().catch((error: unknown) => toast(sentenceOf(error), { isError: true })) : setAsking("leave")
                }
              >
                Leave #{name}
              </Button>
            </div>
          </>
        ) : channel.public ? (
          <div>
            <Button disabled={join.isPending} onClick={() => join.mutate()}>
              Join #{name}
            </Button>
          </div>
        ) : (
          <p className="text-muted">This channel is private. You can see it because your agent is a member. To join, ask the owner, @{channel.owner}.</p>
        )}
      </Section>
      {isManager ? (
        <Section title="Delete">
          {name === GENERAL ? (
            <p>#{GENERAL} cannot be deleted: everyone is a member.</p>
          ) : (
            <>
              <p>Deletes the channel and all its messages for everyone.</p>
              <div>
                <Button look="danger" onClick={() => setAsking("delete")}>
                  Delete #{name}
                </Button>
              </div>
            </>
          )}
        </Section>
      ) : null}
      {asking === "leave" ? (
        <Confirm title={`Leave #${name}?`} action="Leave" onClose={() => setAsking(null)} onConfirm={leave}>
          <p>{agents.length ? `You and your agents ${agents.join(", ")} will leave.` : "You will leave this channel."}</p>
        </Confirm>
      ) : null}
      {asking === "delete" ? (
        <Confirm title={`Delete #${name}?`} action="Delete channel" typed={name} onClose={() => setAsking(null)} onConfirm={remove}>
          <p>The channel and all its messages are deleted for all {channel.member_count} members. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  );
}
