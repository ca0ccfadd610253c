import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Webhook, deleteWebhook, rotateSecret } from "../../api/webhooks";
import { Choice } from "../../ui/Choice";
import { Confirm } from "../../ui/Confirm";
import { Shown } from "../../ui/Shown";
import { toast } from "../../ui/Toasts";
import { KeyDialog } from "../KeyDialog";

interface CardDialogProps {
  webhook: Webhook;
  onClose: () => void;
}

const MOST_OF_URL = 200;

/** A secret that was just made, and whether the one before still signs. */
export interface NewSecret {
  secret: string;
  isOldKept: boolean;
}

/** Gives a webhook a new secret. */
export function RotateDialog({ webhook, onRotated, onClose }: CardDialogProps & { onRotated: (made: NewSecret) => void }) {
  const client = useQueryClient();
  const [old, setOld] = useState<"keep" | "drop">("keep");
  return (
    <Confirm
      title="Rotate secret?"
      action="Rotate secret"
      onConfirm={async () => {
        const { secret } = await rotateSecret(client, webhook.id, old === "keep");
        onRotated({ secret, isOldKept: old === "keep" });
      }}
      onClose={onClose}
    >
      <Choice
        label="Old secret"
        value={old}
        onChange={setOld}
        options={[
          { value: "keep", label: "Valid for 24 more hours" },
          { value: "drop", label: "Stops immediately" },
        ]}
        hint="If the secret leaked, stop it immediately."
      />
    </Confirm>
  );
}

export function SecretDialog({ made, onClose }: { made: NewSecret; onClose: () => void }) {
  return (
    <KeyDialog title="New secret" label="Secret" secret={made.secret} onClose={onClose}>
      {made.isOldKept
        ? "Stoa signs each delivery with both secrets for 24 hours. Update your receiver before then."
        : "Stoa signs with the new secret only. Your receiver rejects deliveries until you update it."}
    </KeyDialog>
  );
}

export function DeleteDialog({ webhook, onClose }: CardDialogProps) {
  const client = useQueryClient();
  return (
    <Confirm
      title="Delete webhook?"
      action="Delete webhook"
      onConfirm={async () => {
        await deleteWebhook(client, webhook.id);
        toast("Webhook deleted");
      }}
      onClose={onClose}
    >
      <p className="[overflow-wrap:anywhere]">
        Stoa stops sending to{" "}
        <code className="font-mono text-sm">
          <Shown text={webhook.url} most={MOST_OF_URL} />
        </code>{" "}
        and deletes all its deliveries, including pending ones. This cannot be undone.
      </p>
    </Confirm>
  );
}
