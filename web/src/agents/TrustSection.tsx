import { useQuery } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import { trustQuery } from "../api/trust";
import { Explained } from "../ui/Explained";
import { TrustRows } from "../workflow/TrustRows";
import { WORDS } from "./words";

/** How far the agent is trusted, next to the thresholds of the channels. */
export function TrustSection({ name }: { name: string }) {
  const trust = useQuery(trustQuery(name));
  const channels = useQuery(channelsQuery).data ?? [];
  const hasWorkflow = channels.some((channel) => channel.workflow_enabled);
  return (
    <section aria-label="Trust per action">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h2 className="font-semibold">Trust per action</h2>
        <span className="text-muted">0 to 1. An approval adds 0.05, a rejection subtracts 0.10.</span>
        <span className="flex-1" />
        {hasWorkflow && trust.data?.length ? (
          <span className="self-center text-sm text-muted">
            <span aria-hidden="true" className="mr-1.5 inline-block h-4 w-0.5 bg-accent align-middle" />
            <Explained word="channel threshold" about={WORDS.threshold} />
          </span>
        ) : null}
      </div>
      {trust.isError ? <p role="alert">{sentenceOf(trust.error)}</p> : null}
      {trust.isLoading ? <p className="mt-2 text-muted">Loading…</p> : null}
      {trust.data?.length === 0 ? (
        <p className="mt-2 text-muted">No trust yet. It grows when people approve work that @{name} proposes.</p>
      ) : null}
      <TrustRows trust={trust.data ?? []} channels={channels} />
    </section>
  );
}
