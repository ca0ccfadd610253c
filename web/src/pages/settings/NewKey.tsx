import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { type Permission, keysQuery } from "../../api/account";
import { api, ok, repeatKey } from "../../api/client";
import { channelsQuery } from "../../api/queries";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { SecretOnce } from "../../ui/SecretOnce";
import { FormError, SelectField, TextField, fieldError } from "../../ui/TextField";
import { AREAS, LIFETIMES, READS, expiryOf } from "./permissions";

type Scope = "all" | "read" | "chosen";

/** Makes a key for an agent, and shows it this once. */
export function NewKey({ agents, onClose }: { agents: Agent[]; onClose: () => void }) {
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const [name, setName] = useState("");
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const [scope, setScope] = useState<Scope>("all");
  const [chosen, setChosen] = useState<Permission[]>(READS);
  const [limits, setLimits] = useState<string[]>([]);
  const [lifetime, setLifetime] = useState("90");
  // Who tries again repeats the same request, and so the same moment.
  const expiry = useMemo(() => expiryOf(lifetime), [lifetime]);
  const [key] = useState(repeatKey);
  const permissions: Permission[] = scope === "all" ? ["*"] : scope === "read" ? READS : chosen;
  const make = useMutation({
    mutationFn: () =>
      ok(
        api.POST("/api/keys", {
          params: { header: { "Idempotency-Key": key } },
          body: { name: name.trim(), agent, permissions, channels: limits, expires_at: expiry },
        }),
      ),
    onSuccess: () => void client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const toggle = <Item,>(list: Item[], item: Item) =>
    list.includes(item) ? list.filter((one) => one !== item) : [...list, item];
  if (make.data) {
    return (
      <Dialog title={`The key “${make.data.api_key.name}”`} onClose={onClose} isKept isWide>
        <div className="flex flex-col gap-4">
          <p>With it, a program acts as @{make.data.api_key.agent}.</p>
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
          hint="What uses it and where, so that you recognise it later."
          required
          autoFocus
          maxLength={100}
          value={name}
          onChange={setName}
          error={fieldError(make.error, "name")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField label="Agent" hint="Who acts with it." value={agent} onChange={setAgent} error={fieldError(make.error, "agent")}>
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
          label="May do"
          value={scope}
          onChange={setScope}
          options={[
            { value: "all", label: "Everything" },
            { value: "read", label: "Only read" },
            { value: "chosen", label: "Choose" },
          ]}
        />
        {scope === "chosen" ? (
          <table className="w-full max-w-sm">
            <thead>
              <tr className="text-left text-sm text-muted">
                <th className="font-normal">Area</th>
                <th className="font-normal">Read</th>
                <th className="font-normal">Write</th>
              </tr>
            </thead>
            <tbody>
              {AREAS.map((area) => (
                <tr key={area.label} className="border-t border-line">
                  <th className="py-1 text-left font-normal">{area.label}</th>
                  {[area.read, area.write].map((permission, at) => (
                    <td key={at} className="py-1">
                      {permission ? (
                        <label className="inline-flex size-6 items-center">
                          <span className="sr-only">{permission}</span>
                          <input
                            type="checkbox"
                            checked={chosen.includes(permission)}
                            onChange={() => setChosen((now) => toggle(now, permission))}
                          />
                        </label>
                      ) : null}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        ) : null}
        {scope === "chosen" && chosen.length === 0 ? <p className="text-amber">Choose at least one.</p> : null}
        <fieldset className="flex flex-col gap-1">
          <legend className="mb-1 font-medium">Only in these channels</legend>
          <div
            role="region"
            aria-label="Channels"
            tabIndex={0}
            className="flex max-h-40 flex-wrap gap-x-4 gap-y-1 overflow-y-auto rounded-md border border-line p-2"
          >
            {channels.data?.map((channel) => (
              <label key={channel.id} className="inline-flex h-6 items-center gap-1.5 pointer-coarse:h-11">
                <input
                  type="checkbox"
                  checked={limits.includes(channel.name)}
                  onChange={() => setLimits((now) => toggle(now, channel.name))}
                />
                #{channel.name}
              </label>
            ))}
            {channels.isError ? <span className="text-rejected">The channels could not be loaded.</span> : null}
          </div>
          <p className="text-sm text-muted">
            {limits.length ? `${limits.length} chosen.` : "None chosen: no limit."} It limits channels and search, not direct messages.
          </p>
        </fieldset>
        <FormError error={make.error} shown={["name", "agent", "expires_at"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" size="form" look="filled" disabled={make.isPending || permissions.length === 0}>
            Create the key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
