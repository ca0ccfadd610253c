import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { type Archetype, createAgent } from "../api/newAgent";
import { useRepeatKey } from "../lib/repeat";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { FormError, SelectField, TextField, fieldError } from "../ui/TextField";
import { KeyDialog } from "./KeyDialog";
import { ARCHETYPES, NAME_PATTERN, NAME_RULE } from "./archetypes";
import { rememberKey } from "./freshKeys";

/** Makes an agent, and shows its key. */
export function NewAgentDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [archetype, setArchetype] = useState<Archetype>("custom");
  const request = { name, display_name: displayName.trim() || undefined, archetype };
  const repeat = useRepeatKey(request);
  const make = useMutation({
    mutationFn: () => createAgent(client, request, repeat),
    onSuccess: (made) => rememberKey(made.agent.name, made.key),
  });
  if (make.data) {
    const made = make.data.agent.name;
    return (
      <KeyDialog
        title={`@${made} is ready`}
        secret={make.data.key}
        onClose={onClose}
        action={
          <>
            <Link
              to="/agents/$name"
              params={{ name: made }}
              search={{ tab: "runs" }}
              className="inline-flex h-9 items-center rounded-md border border-line px-4 font-medium hover:bg-panel pointer-coarse:h-11"
            >
              Let Stoa start it
            </Link>
            <Link
              to="/agents/$name"
              params={{ name: made }}
              search={{ tab: "connect" }}
              className="inline-flex h-9 items-center rounded-md bg-accent px-4 font-medium text-on-accent hover:opacity-90 pointer-coarse:h-11"
            >
              Connect a client
            </Link>
          </>
        }
      >
        Any client that uses this key acts as @{made}. The next page includes the key in the client settings. If Stoa starts @{made} for each message, you do not
        need the key.
      </KeyDialog>
    );
  }
  return (
    <Dialog title="New agent" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <TextField
          label="Name"
          hint={NAME_RULE}
          error={fieldError(make.error, "name")}
          value={name}
          onChange={setName}
          autoFocus
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          pattern={NAME_PATTERN}
          title={NAME_RULE}
        />
        <TextField
          label="Display name"
          hint="Shown to people. You can change it later."
          error={fieldError(make.error, "display_name")}
          value={displayName}
          onChange={setDisplayName}
          maxLength={100}
          autoComplete="off"
        />
        <SelectField
          label="Type"
          hint={`${ARCHETYPES.find((one) => one.name === archetype)?.about ?? ""}. Just a label; it does not change permissions.`}
          value={archetype}
          onChange={(value) => setArchetype(value as Archetype)}
        >
          {ARCHETYPES.map((one) => (
            <option key={one.name} value={one.name}>
              {one.label}
            </option>
          ))}
        </SelectField>
        <FormError error={make.error} shown={["name", "display_name"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={make.isPending}>
            Create agent
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
