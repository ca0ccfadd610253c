import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { shortAddress } from "../../agents/webhooks/words";
import { type Webhook, retryDead } from "../../api/webhooks";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { MomentField } from "../../ui/MomentField";
import { Shown } from "../../ui/Shown";
import { FormError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";

const MOST_OF_URL = 60;
/** So many the hub retries at a time. */
const MOST_RETRIED = 1000;

/** Sends the dead letters of the chosen webhooks again, all or those since a moment. */
export function RetryAllDialog({ webhooks, since: first, onClose }: {
  webhooks: readonly Webhook[];
  since: string | undefined;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [since, setSince] = useState(first);
  const withDead = webhooks.filter((webhook) => webhook.dead_letters > 0);
  const ready = withDead.filter((webhook) => webhook.status !== "disabled");
  const retry = useMutation({
    mutationFn: async () => {
      let retried = 0;
      for (const webhook of ready) retried += (await retryDead(client, webhook.id, since)).retried;
      return retried;
    },
    onSuccess: (retried) => {
      toast(retried === 1 ? "1 delivery queued for retry" : `${retried.toLocaleString()} deliveries queued for retry`);
      onClose();
    },
  });
  return (
    <Dialog title="Retry dead letters" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          retry.mutate();
        }}
      >
        <ul className="flex flex-col gap-1">
          {withDead.map((webhook) => (
            <li key={webhook.id} className="flex flex-wrap items-baseline gap-x-2">
              <span className="min-w-0 flex-1 truncate">
                @{webhook.agent}{" "}
                <span className="text-muted">
                  <Shown text={shortAddress(webhook.url)} most={MOST_OF_URL} />
                </span>
              </span>
              <span className="tabular-nums">{webhook.dead_letters.toLocaleString()}</span>
              {webhook.status === "disabled" ? <span className="basis-full text-sm text-amber">Disabled. Enable it first.</span> : null}
            </li>
          ))}
        </ul>
        <MomentField label="Since" value={since} onChange={setSince} />
        <p className="text-sm text-muted">
          {since ? "Retries dead letters from this time on." : "Empty = all dead letters."} Oldest first, at most {MOST_RETRIED.toLocaleString()} per webhook at a time.
        </p>
        <FormError error={retry.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={retry.isPending || ready.length === 0}>
            Retry all
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
