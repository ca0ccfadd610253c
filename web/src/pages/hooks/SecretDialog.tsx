import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { KeyDialog } from "../../agents/KeyDialog";
import { type Hook, changeHook } from "../../api/hooks";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Dialog } from "../../ui/Dialog";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import { newSecret } from "./form";

/** Replaces the secret of a hook: by a new one, or by the one that the other service has chosen. */
export function SecretDialog({ hook, onClose }: { hook: Hook; onClose: () => void }) {
  const client = useQueryClient();
  const [source, setSource] = useState<"new" | "theirs">("new");
  const [typed, setTyped] = useState("");
  // A retry sends the same secret.
  const [fresh] = useState(() => newSecret(hook.kind));
  const replace = useMutation({
    mutationFn: () => changeHook(client, hook.id, { secret: source === "new" ? fresh : typed.trim() }),
    onSuccess: () => {
      if (source === "new") return;
      toast("Secret replaced");
      onClose();
    },
  });
  if (replace.isSuccess && source === "new") {
    return (
      <KeyDialog title="New secret" label="Secret" secret={fresh} onClose={onClose}>
        Enter this secret in the other service now. Until then its requests are rejected.
      </KeyDialog>
    );
  }
  return (
    <Dialog title="Replace secret" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          replace.mutate();
        }}
      >
        <p>Requests signed with the current secret will be rejected.</p>
        <Choice
          label="New secret"
          value={source}
          onChange={setSource}
          options={[
            { value: "new", label: "Generate" },
            { value: "theirs", label: "Enter service secret" },
          ]}
        />
        {source === "theirs" ? (
          <TextField
            label="Service secret"
            error={fieldError(replace.error, "secret")}
            type="password"
            required
            value={typed}
            onChange={setTyped}
            autoComplete="new-password"
          />
        ) : null}
        <FormError error={replace.error} shown={source === "theirs" ? ["secret"] : []} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="danger" size="form" disabled={replace.isPending}>
            Replace secret
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
