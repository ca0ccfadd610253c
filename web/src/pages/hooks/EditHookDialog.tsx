import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Hook, changeHook } from "../../api/hooks";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { FormError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import { HookFields } from "./HookFields";
import { changesOf, formOf } from "./form";
import { shownFields } from "./shownFields";

/** Changes the name, target, events and template of a hook. */
export function EditHookDialog({ hook, onClose }: { hook: Hook; onClose: () => void }) {
  const client = useQueryClient();
  const [form, setForm] = useState(() => formOf(hook));
  const changes = changesOf(hook, form);
  const save = useMutation({
    mutationFn: () => changeHook(client, hook.id, changes),
    onSuccess: () => {
      toast("Saved");
      onClose();
    },
  });
  return (
    <Dialog title="Edit hook" onClose={onClose} isWide>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <HookFields form={form} onChange={(next) => setForm((now) => ({ ...now, ...next }))} error={save.error} />
        <FormError error={save.error} shown={shownFields(save.error)} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={save.isPending || Object.keys(changes).length === 0}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
