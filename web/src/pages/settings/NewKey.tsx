import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { type Permission, keysQuery } from "../../api/account";
import { api, ok } from "../../api/client";
import type { Agent } from "../../api/types";
import { useRepeatKey } from "../../lib/repeat";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { SecretOnce } from "../../ui/SecretOnce";
import { FormError, SelectField, TextField, fieldError } from "../../ui/TextField";
import { ChannelLimits } from "./ChannelLimits";
import { PermissionTable } from "./PermissionTable";
import { LIFETIMES, READS, expiryOf } from "./permissions";

type Scope = "all" | "read" | "chosen";

/** Creates a key for an agent, and shows it once. */
export function NewKey({ agents, onClose }: { agents: Agent[]; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const [scope, setScope] = useState<Scope>("all");
  const [chosen, setChosen] = useState<Permission[]>(READS);
  const [limits, setLimits] = useState<string[]>([]);
  const [lifetime, setLifetime] = useState("90");
  // A retry must repeat the same request, so the expiry is computed once.
  const expiry = useMemo(() => expiryOf(lifetime), [lifetime]);
  const permissions: Permission[] = scope === "all" ? ["*"] : scope === "read" ? READS : chosen;
  const request = { name: name.trim(), agent, permissions, channels: limits, expires_at: expiry };
  const key = useRepeatKey(request);
  const make = useMutation({
    mutationFn: () =>
      ok(
        api.POST("/api/keys", {
          params: { header: { "Idempotency-Key": key } },
          body: request,
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const toggle = <Item,>(list: Item[], item: Item) =>
    list.includes(item) ? list.filter((one) => one !== item) : [...list, item];
  if (make.data) {
    return (
      <Dialog title={`Key “${make.data.api_key.name}”`} onClose={onClose} isKept isWide>
        <div className="flex flex-col gap-4">
          <p>Any client that uses this key acts as @{make.data.api_key.agent}.</p>
          <SecretOnce label="Key" secret={make.data.key} />
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
    <Dialog title="New key" onClose={onClose} isWide>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="Where you use this key, for example “laptop”"
          required
          autoFocus
          maxLength={100}
          value={name}
          onChange={setName}
          error={fieldError(make.error, "name")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField label="Agent" hint="Agent this key acts as" value={agent} onChange={setAgent} error={fieldError(make.error, "agent")}>
            {agents.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </SelectField>
          <SelectField label="Expires" value={lifetime} onChange={setLifetime} error={fieldError(make.error, "expires_at")}>
            {LIFETIMES.map((one) => (
              <option key={one.value} value={one.value}>
                {one.label}
              </option>
            ))}
          </SelectField>
        </div>
        <Choice
          label="Permissions"
          value={scope}
          onChange={setScope}
          options={[
            { value: "all", label: "Full access" },
            { value: "read", label: "Read only" },
            { value: "chosen", label: "Custom" },
          ]}
        />
        {scope === "chosen" ? (
          <PermissionTable chosen={chosen} onToggle={(permission) => setChosen((now) => toggle(now, permission))} />
        ) : null}
        {scope === "chosen" && chosen.length === 0 ? <p className="text-amber">Select at least one permission.</p> : null}
        <ChannelLimits limits={limits} onToggle={(name) => setLimits((now) => toggle(now, name))} />
        <FormError error={make.error} shown={["name", "agent", "expires_at"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" size="form" look="filled" disabled={make.isPending || permissions.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
