import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { api, ok } from "../api/client";
import { channelsQuery } from "../api/queries";
import { useRepeatKey } from "../lib/repeat";
import { Button } from "../ui/Button";
import { Choice } from "../ui/Choice";
import { Dialog } from "../ui/Dialog";
import { FormError, SelectField, TextField, fieldError } from "../ui/TextField";
import { VirtualList } from "../ui/VirtualList";
import { KeyDialog } from "./KeyDialog";
import { rememberKey } from "./freshKeys";
import { ALL, LIFETIMES, PERMISSIONS, type Permission, READS, expiryOf } from "./keys";

type Extent = "all" | "read" | "chosen";

/** Makes a managed key for an agent, and shows it. */
export function NewKeyDialog({ agent, onClose }: { agent: string; onClose: () => void }) {
  const client = useQueryClient();
  const channels = useQuery(channelsQuery).data ?? [];
  const [name, setName] = useState("");
  const [extent, setExtent] = useState<Extent>("all");
  const [chosen, setChosen] = useState<readonly Permission[]>(["messages:read", "messages:write", "channels:read"]);
  const [limits, setLimits] = useState<readonly string[]>([]);
  const [days, setDays] = useState(90);
  const expiresAt = useMemo(() => expiryOf(days), [days]);
  const permissions = extent === "all" ? [ALL as "*"] : extent === "read" ? [...READS] : [...chosen];
  const request = { name: name.trim(), agent, permissions, channels: [...limits], expires_at: expiresAt };
  const repeat = useRepeatKey(request);
  const make = useMutation({
    mutationFn: () => ok(api.POST("/api/keys", { params: { header: { "Idempotency-Key": repeat } }, body: request })),
    onSuccess: (made) => {
      rememberKey(agent, made.key);
      void client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  if (make.data) {
    return (
      <KeyDialog title={`Key “${make.data.api_key.name}” for @${agent}`} secret={make.data.key} onClose={onClose}>
        Until you leave this page, the Connect tab includes this key in the client settings.
      </KeyDialog>
    );
  }
  const toggled = <T,>(list: readonly T[], one: T) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]);
  const box = "inline-flex min-h-6 cursor-pointer items-center gap-2 pointer-coarse:min-h-11";
  return (
    <Dialog title={`New key for @${agent}`} onClose={onClose} isWide>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Name"
          hint="Where you use this key, for example “laptop”"
          error={fieldError(make.error, "name")}
          value={name}
          onChange={setName}
          autoFocus
          required
          maxLength={100}
          autoComplete="off"
        />
        <Choice
          label="Permissions"
          value={extent}
          onChange={setExtent}
          options={[
            { value: "all", label: "Full access" },
            { value: "read", label: "Read only" },
            { value: "chosen", label: "Custom" },
          ]}
        />
        {extent === "chosen" ? (
          <fieldset>
            <legend className="sr-only">Custom permissions</legend>
            <div className="grid gap-x-6 gap-y-1 sm:grid-cols-2">
              {PERMISSIONS.map(({ area, names }) => (
                <div key={area} className="flex flex-wrap items-center gap-x-4">
                  <span className="w-24 text-muted">{area}</span>
                  {names.map((one) => (
                    <label key={one} className={box}>
                      <input
                        type="checkbox"
                        aria-label={one}
                        checked={chosen.includes(one)}
                        onChange={() => setChosen(toggled(chosen, one))}
                      />
                      {one.split(":")[1]}
                    </label>
                  ))}
                </div>
              ))}
            </div>
          </fieldset>
        ) : null}
        <fieldset>
          <legend className="font-medium">Channels</legend>
          <p className="text-sm text-muted">Empty = all channels. Direct messages are always allowed.</p>
          <div data-scroller className="mt-1 max-h-40 overflow-y-auto">
            <VirtualList rows={channels} keyOf={({ id }) => id} size={24} className="flex flex-wrap gap-x-4">
              {(channel) => (
                <label className={box}>
                  <input
                    type="checkbox"
                    checked={limits.includes(channel.name)}
                    onChange={() => setLimits(toggled(limits, channel.name))}
                  />
                  #{channel.name}
                </label>
              )}
            </VirtualList>
          </div>
        </fieldset>
        <SelectField label="Expires" value={String(days)} onChange={(value) => setDays(Number(value))} error={fieldError(make.error, "expires_at")}>
          {LIFETIMES.map((one) => (
            <option key={one.days} value={one.days}>
              {one.label}
            </option>
          ))}
        </SelectField>
        <FormError error={make.error} shown={["name", "expires_at"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={make.isPending || permissions.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
