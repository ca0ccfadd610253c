import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { newRunSecret, runsQuery } from "../../api/runs";
import { sentenceOf } from "../../api/problem";
import type { Agent } from "../../api/types";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Confirm";
import { Refusal } from "../../ui/Field";
import { SecretOnce } from "../../ui/SecretOnce";

/** The secret with which the hub signs its calls to an agent that runs elsewhere. */
export function SigningSecret({ agent }: { agent: Agent }) {
  const [isAsking, setAsking] = useState(false);
  const create = useMutation({ mutationFn: () => newRunSecret(agent.name) });
  const runs = useQuery(runsQuery({ agent: agent.name })).data?.total ?? 0;
  // The hub does not say whether there is one. An agent that was called has one.
  const wasCalled = agent.harness?.backend === "webhook" && runs > 0;
  const isReplaced = wasCalled || create.data !== undefined;
  return (
    <section aria-label="Signing secret" className="flex min-w-0 flex-col items-start gap-2">
      <h3 className="font-medium">Signing secret</h3>
      <p className="text-sm text-muted">
        Your receiver uses it to verify that a request comes from this hub. {isReplaced ? "The hub does not show it again, but you can replace it." : "If you created one before, that one stops working."}
      </p>
      {create.data === undefined ? null : (
        <div role="status" className="flex w-full min-w-0 flex-col gap-2">
          <p>Here is the new secret. An older one no longer works.</p>
          <SecretOnce key={create.data} label="Signing secret" secret={create.data} />
        </div>
      )}
      <Button disabled={create.isPending} onClick={() => (isReplaced ? setAsking(true) : create.mutate())}>
        {isReplaced ? "Replace signing secret" : "Create signing secret"}
      </Button>
      {create.isError && !isAsking ? <Refusal>{sentenceOf(create.error)}</Refusal> : null}
      {isAsking ? (
        // React passes events of the dialog on to the form around this, which must not be saved by them.
        <div onSubmit={(event) => event.stopPropagation()}>
          <Confirm title="Replace signing secret?" action="Replace secret" onConfirm={() => create.mutateAsync()} onClose={() => setAsking(false)}>
            The current secret stops working immediately. Your receiver refuses requests until it has the new one.
          </Confirm>
        </div>
      ) : null}
    </section>
  );
}
