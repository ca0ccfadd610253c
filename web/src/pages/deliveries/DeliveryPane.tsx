import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { StatusBadge } from "../../agents/webhooks/parts";
import { MOST_FAILURES, reasonOf } from "../../agents/webhooks/words";
import { type DeliveryDetails, type Webhook, deliveryQuery, retryDelivery } from "../../api/webhooks";
import { sentenceOf } from "../../api/problem";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyField";
import { Facts } from "../../ui/Facts";
import { AgentName } from "../../ui/Names";
import { PeekPane } from "../../ui/PeekPane";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toasts";
import { AnswerPart } from "./AnswerPart";
import { AttemptList } from "./AttemptList";
import { MessageLink } from "./MessageLink";
import { RequestPart } from "./RequestPart";
import { curlOf } from "./curl";

interface DeliveryPaneProps {
  id: number;
  webhooks: readonly Webhook[];
  onStep: (step: 1 | -1) => void;
  hasNext: boolean;
  hasPrevious: boolean;
  onClose: () => void;
}

/** One delivery beside the list: its attempts, its request and the last answer. */
export function DeliveryPane({ id, webhooks, ...pane }: DeliveryPaneProps) {
  const delivery = useQuery(deliveryQuery(id));
  const webhook = webhooks.find((one) => one.id === delivery.data?.webhook_id);
  return (
    <PeekPane label="Delivery" title={`Delivery ${id.toLocaleString()}`} {...pane}>
      {delivery.isError && !delivery.data ? <Failed error={delivery.error} retry={() => void delivery.refetch()} /> : null}
      {delivery.isLoading ? <Skeleton rows={3} /> : null}
      {delivery.data ? <Details key={id} delivery={delivery.data} webhook={webhook} /> : null}
    </PeekPane>
  );
}

function Details({ delivery, webhook }: { delivery: DeliveryDetails; webhook: Webhook | undefined }) {
  const client = useQueryClient();
  const reason = reasonOf(delivery);
  const retry = () =>
    void retryDelivery(client, delivery.id).then(
      () => toast("Delivery queued for retry"),
      (error: unknown) => toast(sentenceOf(error), { isError: true }),
    );
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge delivery={delivery} />
        <Time at={delivery.created_at} as="date" />
      </div>
      {reason ? (
        <p>
          <Shown text={reason} most={MOST_OF_LINE} />
        </p>
      ) : null}
      <div className="flex flex-wrap items-center gap-2">
        {delivery.status === "dead" ? (
          <Button
            look="filled"
            onClick={(event) => {
              // The button disappears after a retry. The keys of the pane work only while the focus is in it.
              event.currentTarget.closest("aside")?.querySelector("h2")?.focus();
              retry();
            }}
          >
            Retry now
          </Button>
        ) : null}
        {delivery.request ? <CopyButton label="Copy as curl" text={curlOf(delivery.request)} /> : null}
        {delivery.message_id ? <MessageLink id={delivery.message_id} /> : null}
      </div>
      <AttemptList delivery={delivery} />
      <RequestPart delivery={delivery} />
      <AnswerPart attempts={delivery.attempts} />
      <Facts
        items={[
          ["Event", <code key="event" className="font-mono text-sm">{delivery.event}</code>],
          ["Agent", <AgentName key="agent" name={delivery.agent} />],
          [
            "Webhook",
            <Link
              key="webhook"
              to="/agents/$name"
              params={{ name: delivery.agent }}
              search={{ tab: "webhooks" }}
              className="inline-flex min-h-6 items-center text-accent hover:underline"
            >
              {webhook ? `${webhook.consecutive_failures} of ${MOST_FAILURES} failures in a row` : "Show webhooks"}
            </Link>,
          ],
          ["webhook-id", <code key="id" className="font-mono text-sm break-all">{delivery.event_id}</code>],
          ["Loop depth", String(delivery.depth)],
        ]}
      />
    </>
  );
}
