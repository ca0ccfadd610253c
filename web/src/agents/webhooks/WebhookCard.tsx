import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Send, Webhook as WebhookIcon } from "lucide-react";
import { useId, useState } from "react";

import { sentenceOf } from "../../api/problem";
import { type Webhook, changeWebhook, testWebhook } from "../../api/webhooks";
import { Button } from "../../ui/Button";
import { Refusal } from "../../ui/Field";
import { MenuButton } from "../../ui/MenuButton";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { classes } from "../../ui/classes";
import { DeleteDialog, type NewSecret, RotateDialog, SecretDialog } from "./CardDialogs";
import { HealthPart } from "./HealthPart";
import { LastDeliveries } from "./LastDeliveries";
import { TestResult } from "./TestResult";
import { WebhookDialog } from "./WebhookDialog";
import { WordBadge } from "./parts";
import { useDeliveries } from "./useDeliveries";
import { holds, stateOf } from "./words";

const MOST_OF_URL = 200;
/** The health is that of so many deliveries. */
const LATEST = 20;

/** One webhook: its address, state, health and last deliveries, with its actions. */
export function WebhookCard({ webhook }: { webhook: Webhook }) {
  const client = useQueryClient();
  const titleId = useId();
  const latest = useDeliveries({ webhook: webhook.id }, [webhook], LATEST);
  const [open, setOpen] = useState<"edit" | "rotate" | "delete" | null>(null);
  const [made, setMade] = useState<NewSecret | null>(null);
  const [tested, setTested] = useState<number | null>(null);
  const test = useMutation({ mutationFn: () => testWebhook(client, webhook.id), onSuccess: ({ id }) => setTested(id) });
  const enable = useMutation({
    mutationFn: (enabled: boolean) => changeWebhook(client, webhook.id, { enabled }),
    onSuccess: (_, enabled) => toast(enabled ? "Webhook enabled" : "Webhook paused"),
  });
  const state = stateOf(webhook);
  const isEnabled = webhook.status !== "disabled";
  const isHolding = holds(webhook);
  const close = () => setOpen(null);
  const failed = test.error ?? enable.error;
  return (
    <section aria-labelledby={titleId} className="min-w-0 rounded-lg border border-line">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2 p-4">
        <WebhookIcon size={18} aria-hidden="true" className={classes("mt-1 shrink-0", isEnabled ? "text-approved" : "text-rejected")} />
        <div className="flex min-w-40 flex-1 flex-col gap-1.5">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <h2 id={titleId} className="min-w-0 font-mono text-sm font-semibold [overflow-wrap:anywhere]">
              <Shown text={webhook.url} most={MOST_OF_URL} />
            </h2>
            <WordBadge words={state} />
            {webhook.disabled_at ? <Time at={webhook.disabled_at} /> : null}
          </div>
          <Notes webhook={webhook} about={state.about} />
          <ul aria-label="Events" className="flex flex-wrap gap-1.5">
            {webhook.events.map((event) => (
              <li key={event} className="rounded-sm bg-panel px-1.5 font-mono text-sm text-muted">
                {event}
              </li>
            ))}
          </ul>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button disabled={test.isPending} onClick={() => test.mutate()}>
            <Send size={14} aria-hidden="true" /> {isHolding ? "Probe now" : "Send test"}
          </Button>
          {isEnabled ? (
            <Button onClick={() => setOpen("edit")}>Edit</Button>
          ) : (
            <Button disabled={enable.isPending} onClick={() => enable.mutate(true)}>
              Enable
            </Button>
          )}
          <MenuButton
            label="More actions"
            actions={[
              isEnabled ? { label: "Pause", onSelect: () => enable.mutate(false) } : { label: "Edit", onSelect: () => setOpen("edit") },
              { label: "Rotate secret", onSelect: () => setOpen("rotate") },
              { label: "Delete", onSelect: () => setOpen("delete"), isDanger: true },
            ]}
          />
        </div>
      </div>
      {failed || tested !== null ? (
        <div className="px-4 pb-4">
          {failed ? <Refusal>{sentenceOf(failed)}</Refusal> : null}
          {tested === null ? null : <TestResult key={tested} id={tested} onClose={() => setTested(null)} />}
        </div>
      ) : null}
      <div className="grid border-t border-line lg:grid-cols-[16rem_minmax(0,1fr)]">
        <HealthPart webhook={webhook} latest={latest.data?.pages[0]?.items} />
        <LastDeliveries webhook={webhook} latest={latest} />
      </div>
      {open === "edit" ? <WebhookDialog agent={webhook.agent} webhook={webhook} onClose={close} /> : null}
      {open === "rotate" ? <RotateDialog webhook={webhook} onRotated={setMade} onClose={close} /> : null}
      {made ? <SecretDialog made={made} onClose={() => setMade(null)} /> : null}
      {open === "delete" ? <DeleteDialog webhook={webhook} onClose={close} /> : null}
    </section>
  );
}

/** Details of the state, and until when the old secret signs. */
function Notes({ webhook, about }: { webhook: Webhook; about: string | null }) {
  return (
    <>
      {about || webhook.next_probe_at ? (
        <p className="text-muted">
          {about}
          {webhook.next_probe_at ? (
            <>
              {" "}
              Next probe at <Time at={webhook.next_probe_at} as="clock" />.
            </>
          ) : null}
        </p>
      ) : null}
      {webhook.old_secret_until ? (
        <p className="text-muted">
          Old secret valid until <Time at={webhook.old_secret_until} as="date" />.
        </p>
      ) : null}
    </>
  );
}
