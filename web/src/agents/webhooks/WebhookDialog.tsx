import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { type Webhook, type WebhookEvent, changeWebhook, createWebhook } from "../../api/webhooks";
import { useRepeatKey } from "../../lib/repeat";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { FormError, TextField, fieldError } from "../../ui/TextField";
import { toast } from "../../ui/Toasts";
import { KeyDialog } from "../KeyDialog";
import { EVENTS } from "./words";

const FIRST: readonly WebhookEvent[] = ["message.received", "message.mentioned"];

/** Adds a webhook and shows its secret, or changes one. */
export function WebhookDialog({ agent, webhook, onClose }: { agent: string; webhook?: Webhook; onClose: () => void }) {
  const client = useQueryClient();
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<readonly WebhookEvent[]>(webhook?.events ?? FIRST);
  const request = { agent, url: url.trim(), events: [...events] };
  const repeat = useRepeatKey(request);
  const save = useMutation({
    mutationFn: async () => {
      if (!webhook) return (await createWebhook(client, request, repeat)).secret;
      await changeWebhook(client, webhook.id, { url: request.url, events: request.events });
      return null;
    },
    onSuccess: (secret) => {
      if (secret !== null) return;
      toast("Webhook saved");
      onClose();
    },
  });
  if (save.data) {
    return (
      <KeyDialog title="Webhook secret" label="Secret" secret={save.data} onClose={onClose}>
        Your receiver uses this secret to verify that requests come from this hub.
      </KeyDialog>
    );
  }
  return (
    <Dialog title={webhook ? "Edit webhook" : `Add a webhook for @${agent}`} onClose={onClose}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TextField
          label="Address"
          hint="Stoa sends POST requests to it."
          error={fieldError(save.error, "url")}
          value={url}
          onChange={setUrl}
          // The hub says what is wrong with an address; the browser would say it in other words.
          type="text"
          inputMode="url"
          placeholder="https://ops.example.com/stoa"
          autoFocus
          required
          maxLength={4096}
          autoComplete="off"
          spellCheck={false}
        />
        <EventChoice chosen={events} onChange={setEvents} />
        <FormError error={save.error} shown={["url"]} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button size="form" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="filled" size="form" disabled={save.isPending || events.length === 0}>
            {webhook ? "Save" : "Add webhook"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Which events are sent. Those that were chosen elsewhere and are not sent yet stay as they are. */
function EventChoice({ chosen, onChange }: { chosen: readonly WebhookEvent[]; onChange: (events: readonly WebhookEvent[]) => void }) {
  const id = useId();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 font-medium">Events</legend>
      {EVENTS.map(({ name, when }) => (
        <label key={name} className="flex min-h-6 cursor-pointer items-start gap-2 pointer-coarse:min-h-11">
          <input
            type="checkbox"
            className="mt-1"
            aria-label={name}
            aria-describedby={`${id}-${name}`}
            checked={chosen.includes(name)}
            onChange={() => onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name])}
          />
          <span>
            <span className="block font-mono text-sm">{name}</span>
            <span id={`${id}-${name}`} className="block text-sm text-muted">
              {when}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
