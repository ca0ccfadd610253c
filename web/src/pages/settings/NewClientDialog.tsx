import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { clientsQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import type { Agent } from "../../api/types";
import { useRepeatKey } from "../../lib/repeat";
import { Button } from "../../ui/Button";
import { CopyField } from "../../ui/CopyField";
import { Dialog } from "../../ui/Dialog";
import { SecretOnce } from "../../ui/SecretOnce";
import { FormError, SelectField, TextField, fieldError } from "../../ui/TextField";

/** Creates an OAuth client, and shows its secret once. */
export function NewClientDialog({ agents, onClose }: { agents: Agent[]; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const key = useRepeatKey([name.trim(), agent]);
  const make = useMutation({
    mutationFn: () =>
      ok(api.POST("/api/oauth/clients", { params: { header: { "Idempotency-Key": key } }, body: { name: name.trim(), agent } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: clientsQuery.queryKey }),
  });
  if (make.data) {
    return (
      <Dialog title={`Client “${make.data.client.name}”`} onClose={onClose} isKept isWide>
        <div className="flex flex-col gap-4">
          <CopyField title="Client id" text={make.data.client.client_id} />
          <SecretOnce label="Client secret" secret={make.data.client_secret} />
          <div className="flex justify-end">
            <Button size="form" look="filled" onClick={onClose}>
              I have saved it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New client" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField label="Name" required autoFocus maxLength={100} value={name} onChange={setName} error={fieldError(make.error, "name")} />
        <SelectField label="Agent" hint="Agent this client acts as" value={agent} onChange={setAgent} error={fieldError(make.error, "agent")}>
          {agents.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </SelectField>
        <FormError error={make.error} shown={["name", "agent"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" size="form" look="filled" disabled={make.isPending}>
            Create client
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
