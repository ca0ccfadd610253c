import { useQuery } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import { type Trust, trustQuery } from "../api/trust";
import { Explained } from "../ui/Explained";
import { Meter } from "../ui/Meter";
import { type Threshold, thresholdsOf } from "../workflow/trust";
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
      <ul className="mt-2 flex flex-col gap-3">
        {trust.data?.map((one) => (
          <TrustRow key={one.action_type} trust={one} thresholds={thresholdsOf(one.action_type, channels)} />
        ))}
      </ul>
    </section>
  );
}

function TrustRow({ trust, thresholds }: { trust: Trust; thresholds: Threshold[] }) {
  const asks = thresholds.map(({ at, channels }) => `${at} in ${channels.map((channel) => `#${channel}`).join(", ")}`);
  return (
    <li className="grid grid-cols-[8rem_minmax(0,1fr)_9.5rem] items-center gap-x-3 max-sm:grid-cols-[minmax(0,1fr)_auto]">
      <code className="truncate font-mono text-sm">{trust.action_type}</code>
      <div className="max-sm:order-last max-sm:col-span-2">
        <Meter
          label={`Trust in ${trust.action_type}`}
          value={trust.score}
          ticks={thresholds.map(({ at }, place) => ({ at, title: asks[place]! }))}
        />
        {asks.length ? <span className="sr-only">Required: {asks.join("; ")}</span> : null}
      </div>
      <span className="text-right whitespace-nowrap tabular-nums">
        <strong>{trust.score.toFixed(2)}</strong>{" "}
        <span className="text-muted">
          {trust.adjustments} {trust.adjustments === 1 ? "adjustment" : "adjustments"}
        </span>
      </span>
    </li>
  );
}
