import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Hook, type HookKind, createHook } from "../../api/hooks";
import { useRepeatKey } from "../../lib/repeat";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { HookCreated } from "./HookCreated";
import { HookFields } from "./HookFields";
import { EMPTY_FORM, type HookForm, requestOf } from "./form";
import { shownFields } from "./shownFields";
import { KINDS } from "./words";

const OPTIONS = (Object.keys(KINDS) as HookKind[]).map((value) => ({ value, label: KINDS[value].label }));

/** Creates a hook, and shows its URL and secret once. */
export function NewHookDialog({ onClose }: { onClose: (created?: Hook) => void }) {
  const client = useQueryClient();
  const [form, setForm] = useState<HookForm>(EMPTY_FORM);
  const request = requestOf(form);
  const repeat = useRepeatKey(request);
  const create = useMutation({ mutationFn: () => createHook(client, request, repeat) });
  if (create.data) return <HookCreated created={create.data} onClose={() => onClose(create.data.hook)} />;
  const change = (changes: Partial<HookForm>) => setForm((now) => ({ ...now, ...changes }));
  return (
    <Dialog title="New hook" onClose={() => onClose()} isWide>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Choice label="Kind" hint={KINDS[form.kind].about} value={form.kind} onChange={(kind) => change({ kind })} options={OPTIONS} />
        <HookFields form={form} onChange={change} error={create.error} />
        {form.kind === "url" ? null : (
          <TextField
            label="Service secret"
            hint="Only if the other service provides the secret. Empty = the hub creates one."
            error={fieldError(create.error, "secret")}
            type="password"
            value={form.secret}
            onChange={(secret) => change({ secret })}
            autoComplete="new-password"
          />
        )}
        <FormError error={create.error} shown={shownFields(create.error)} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={() => onClose()}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={create.isPending}>
            Create hook
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
