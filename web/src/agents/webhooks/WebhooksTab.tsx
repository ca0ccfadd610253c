import { useQuery } from "@tanstack/react-query";
import { BookOpen, Plus } from "lucide-react";
import { useState } from "react";

import type { Agent } from "../../api/types";
import { webhooksQuery } from "../../api/webhooks";
import { Button } from "../../ui/Button";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { VerifyDialog } from "./VerifyDialog";
import { WebhookCard } from "./WebhookCard";
import { WebhookDialog } from "./WebhookDialog";
import { MOST_WEBHOOKS } from "./words";

/** Where the hub sends events of an agent. */
export function WebhooksTab({ agent }: { agent: Agent }) {
  const webhooks = useQuery(webhooksQuery(agent.name));
  const [isAdding, setAdding] = useState(false);
  const [isVerifying, setVerifying] = useState(false);
  const count = webhooks.data?.length ?? 0;
  return (
    <div className="flex min-w-0 flex-col gap-4 p-6 max-md:px-4">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-48 flex-1 text-muted">
          Stoa sends a signed request to these addresses when something happens to {agent.display_name}.{" "}
          {webhooks.data ? `${count} of ${MOST_WEBHOOKS} used.` : null}
        </p>
        <Button look="plain" onClick={() => setVerifying(true)}>
          <BookOpen size={14} aria-hidden="true" /> Verify signatures
        </Button>
        <Button look="filled" disabled={count >= MOST_WEBHOOKS} onClick={() => setAdding(true)}>
          <Plus size={14} aria-hidden="true" /> Add webhook
        </Button>
      </div>
      {count > 0 && (agent.paused_at || agent.quarantined_at) ? (
        <p className="text-amber">
          @{agent.name} is {agent.paused_at ? "paused" : "quarantined (stopped by Stoa)"}. Its webhooks are not called until the agent is active again.
        </p>
      ) : null}
      {webhooks.isError ? <Failed error={webhooks.error} retry={() => void webhooks.refetch()} /> : null}
      {webhooks.isLoading ? <Skeleton rows={2} /> : null}
      {webhooks.data && count === 0 ? (
        <Empty title="No webhooks yet">
          The agent's webhooks appear here. With “Add webhook”, your service gets a request when someone messages or mentions @{agent.name} or changes its work.
        </Empty>
      ) : null}
      {webhooks.data?.map((webhook) => <WebhookCard key={webhook.id} webhook={webhook} />)}
      {isAdding ? <WebhookDialog agent={agent.name} onClose={() => setAdding(false)} /> : null}
      {isVerifying ? <VerifyDialog onClose={() => setVerifying(false)} /> : null}
    </div>
  );
}
