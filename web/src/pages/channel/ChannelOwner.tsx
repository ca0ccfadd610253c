import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type RevisedChannel, withRevision } from "../../api/channel";
import { api } from "../../api/client";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { Section } from "../../ui/Section";
import { SelectField } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";

/** Hands the channel over to another person among its members. */
export function ChannelOwner({ details }: { details: RevisedChannel }) {
  const client = useQueryClient();
  const { channel, members, revision } = details;
  const heirs = members.filter((member) => member.kind === "user" && member.name !== channel.owner);
  const [chosen, setChosen] = useState("");
  const [isAsking, setAsking] = useState(false);
  const heir = heirs.find((member) => member.name === chosen) ?? heirs[0];
  return (
    <Section title="Owner" description={`@${channel.owner} owns this channel. Ownership can be transferred to another member.`}>
      {heir ? (
        <form
          className="flex max-w-md items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            setAsking(true);
          }}
        >
          <div className="min-w-0 flex-1">
            <SelectField label="New owner" value={heir.name} onChange={setChosen}>
              {heirs.map((member) => (
                <option key={member.name}>{member.name}</option>
              ))}
            </SelectField>
          </div>
          <Button type="submit" size="form">
            Transfer
          </Button>
        </form>
      ) : (
        <p className="text-muted">No other people in this channel. Add one first.</p>
      )}
      {isAsking && heir ? (
        <Confirm
          title={`Transfer #${channel.name} to @${heir.name}?`}
          action="Transfer"
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const params = { path: { name: channel.name }, header: revision ? { "If-Match": revision } : {} };
            try {
              await withRevision(api.PATCH("/api/channels/{name}", { params, body: { owner: heir.name } }));
              toast(`#${channel.name} transferred to @${heir.name}`);
            } finally {
              void client.invalidateQueries({ queryKey: ["channel", channel.name] });
              void client.invalidateQueries({ queryKey: ["channels"] });
            }
          }}
        >
          <p>Only @{heir.name} can transfer it back.</p>
        </Confirm>
      ) : null}
    </Section>
  );
}
