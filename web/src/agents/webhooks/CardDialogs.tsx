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
      title="Rotate the secret?"
      action="Rotate secret"
      onConfirm={async () => {
        const { secret } = await rotateSecret(client, webhook.id, old === "keep");
        onRotated({ secret, isOldKept: old === "keep" });
      }}
      onClose={onClose}
    >
      <Choice
        label="The old secret"
        value={old}
        onChange={setOld}
        options={[
          { value: "keep", label: "stays valid for 24 hours" },
          { value: "drop", label: "stops at once" },
        ]}
        hint="Stop it at once if somebody else knows it."
      />
    </Confirm>
  );
}

export function SecretDialog({ made, onClose }: { made: NewSecret; onClose: () => void }) {
  return (
    <KeyDialog title="New secret" label="Secret" secret={made.secret} onClose={onClose}>
      {made.isOldKept
        ? "Both secrets are valid for 24 hours: Stoa signs each delivery with both. Give the new one to your receiver in this time."
        : "Stoa signs with the new secret only. Your receiver refuses deliveries until it has it."}
    </KeyDialog>
  );
}

export function DeleteDialog({ webhook, onClose }: CardDialogProps) {
  const client = useQueryClient();
  return (
    <Confirm
      title="Delete the webhook?"
      action="Delete webhook"
      onConfirm={async () => {
        await deleteWebhook(client, webhook.id);
        toast("The webhook is deleted.");
      }}
      onClose={onClose}
    >
      <p className="[overflow-wrap:anywhere]">
        Stoa stops calling{" "}
        <code className="font-mono text-sm">
          <Shown text={webhook.url} most={MOST_OF_URL} />
        </code>{" "}
        and deletes its deliveries, also those that wait. This cannot be undone.
      </p>
    </Confirm>
  );
}
