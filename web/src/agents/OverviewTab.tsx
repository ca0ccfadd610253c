import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, CircleDashed, CirclePause, Clock, Hand, OctagonX } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";

import { type Trace, type Trust, dayOfTracesQuery, trustQuery } from "../api/agents";
import { sentenceOf } from "../api/problem";
import { channelsQuery } from "../api/queries";
import type { Agent } from "../api/types";
import { clockTime } from "../lib/time";
import { Button } from "../ui/Button";
import { type Column, DataTable } from "../ui/DataTable";
import { Explained } from "../ui/Explained";
import { Facts } from "../ui/Facts";
import { Meter } from "../ui/Meter";
import { Sparkline } from "../ui/Sparkline";
import { Time } from "../ui/Time";
import { type Threshold, thresholdsOf } from "../workflow/trust";
import { Unquarantine } from "./AgentHeader";
import { type Bar, barsOf, spanOf } from "./activity";
import { type ChainStep, chainOf, effectOf } from "./chain";
import { WORDS } from "./words";

/** How the agent stands, what it is trusted with and what it did. */
export function OverviewTab({ agent }: { agent: Agent }) {
  return (
    <div className="grid gap-6 p-6 max-md:px-4 xl:grid-cols-[minmax(0,1fr)_360px]">
      <div className="flex min-w-0 flex-col gap-8">
        <Standing agent={agent} />
        <TrustPart name={agent.name} />
        <ActivityPart name={agent.name} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="When a message arrives">
          <p className="text-muted">{effectOf(agent)}</p>
          <ol className="mt-3 flex flex-col gap-2">
            {chainOf(agent).map((step) => (
              <StepRow key={step.name} step={step} />
            ))}
          </ol>
          <p className="mt-3">
            <Link
              to="/agents/$name"
              params={{ name: agent.name }}
              search={{ tab: "triggers" }}
              className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11"
            >
              Change what starts it
            </Link>
          </p>
        </Card>
        <Card title="About">
          <Facts
            items={[
              ["Owner", `@${agent.owner}`],
              ["Archetype", agent.archetype, WORDS.archetype],
              ["Mode", agent.trigger_mode, WORDS.mode],
              ["Budget", budgetOf(agent), WORDS.budget],
              ["Depth", `at most ${agent.max_trigger_depth}`, WORDS.depth],
              ["Backend", agent.harness ? [agent.harness.backend, agent.harness.adapter].filter(Boolean).join(", ") : "none", WORDS.backend],
              ["Pending work", agent.pending_work ? "yes, a run is waiting" : "none", WORDS.pending],
              ["Created", <Time key="made" at={agent.created_at} />],
            ]}
          />
        </Card>
      </div>
    </div>
  );
}

function budgetOf(agent: Agent): string {
  const { runs_per_day: runs, cost_usd_per_day: cost } = agent.budget;
  return `${runs} runs a day, ${cost === null || cost === undefined ? "no cost limit" : `$${cost.toFixed(2)} a day`}`;
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-lg border border-line p-4">
      <h2 className="mb-2 font-semibold">{title}</h2>
      {children}
    </section>
  );
}

/** Why the agent does not work, where it does not. */
function Standing({ agent }: { agent: Agent }) {
  const [isAsked, setAsked] = useState(false);
  if (!agent.quarantined_at && !agent.paused_at) return null;
  return (
    <section aria-label="Status" className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-4">
      {agent.quarantined_at ? (
        <>
          <p>
            <strong className="text-rejected">Quarantined</strong> since <Time at={agent.quarantined_at} as="clock" /> (
            <Time at={agent.quarantined_at} />
            ): the hub has stopped it, because its reputation fell below 0.3. Nothing starts it until you lift the quarantine.
          </p>
          <Button className="self-start" onClick={() => setAsked(true)}>
            Lift the quarantine
          </Button>
        </>
      ) : null}
      {agent.paused_at ? (
        <p>
          <strong className="text-amber">Paused</strong> since <Time at={agent.paused_at} as="clock" /> (<Time at={agent.paused_at} />
          ){" "}
          {agent.pause_reason === "budget"
            ? "because today's budget is used up. It carries on at 00:00 UTC, or when you resume it."
            : "by hand. It carries on when you resume it."}
        </p>
      ) : null}
      {isAsked ? <Unquarantine agent={agent} onClose={() => setAsked(false)} /> : null}
    </section>
  );
}

/** How far the agent is trusted, beside what channels ask for. */
function TrustPart({ name }: { name: string }) {
  const trust = useQuery(trustQuery(name));
  const channels = useQuery(channelsQuery).data ?? [];
  const hasWorkflow = channels.some((channel) => channel.workflow_enabled);
  return (
    <section aria-label="Trust per action">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h2 className="font-semibold">Trust per action</h2>
        <span className="text-muted">from 0 to 1: an approval adds 0.05, a rejection takes 0.10</span>
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
        <p className="mt-2 text-muted">No trust yet. It grows when people approve what @{name} proposes.</p>
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
        {asks.length ? <span className="sr-only">Asked for: {asks.join("; ")}</span> : null}
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

const clock = (at: number) => clockTime(new Date(at).toISOString());

const BAR_COLUMNS: Array<Column<Bar>> = [
  { title: "Time", cell: (bar) => `${clock(bar.from)} to ${clock(bar.to)}` },
  { title: "Calls", isEnd: true, cell: (bar) => bar.calls },
  { title: "Failed", isEnd: true, cell: (bar) => bar.failed },
];

const CALL_COLUMNS: Array<Column<Trace>> = [
  { title: "Call", cell: (trace) => <code className="font-mono text-sm">{trace.action}</code> },
  {
    title: "Outcome",
    cell: (trace) => (trace.error ? <span className="text-rejected">✕ {trace.error}</span> : <span className="text-approved">✓ done</span>),
  },
  { title: "Took", isEnd: true, isWideOnly: true, cell: (trace) => `${trace.duration_ms} ms` },
  { title: "When", isEnd: true, cell: (trace) => <Time at={trace.created_at} as="clock" /> },
];

function ActivityPart({ name }: { name: string }) {
  const traces = useQuery(dayOfTracesQuery(name));
  const [isTable, setTable] = useState(false);
  const shown = useMemo(() => {
    if (!traces.data) return null;
    const span = spanOf(traces.data, Date.now());
    return { span, bars: barsOf(traces.data.items, span) };
  }, [traces.data]);
  const failed = traces.data?.items.filter((trace) => trace.error).length ?? 0;
  return (
    <section aria-label="Activity" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <h2 className="font-semibold">Activity</h2>
        {traces.data && shown ? (
          <span className="text-muted">
            {traces.data.total} {traces.data.total === 1 ? "call" : "calls"} in 24 h
            {shown.span.isWhole ? "" : `; showing the latest ${traces.data.items.length}, since ${clock(shown.span.from)}`}
            {failed ? `, ${failed} failed` : ""}
          </span>
        ) : null}
        <span className="flex-1" />
        {traces.data?.items.length ? (
          <button type="button" aria-expanded={isTable} className="inline-flex min-h-6 items-center text-accent hover:underline pointer-coarse:min-h-11" onClick={() => setTable(!isTable)}>
            {isTable ? "Show as bars" : "Show as table"}
          </button>
        ) : null}
      </div>
      {traces.isError ? <p role="alert">{sentenceOf(traces.error)}</p> : null}
      {traces.isLoading ? <p className="text-muted">Loading…</p> : null}
      {traces.data?.items.length === 0 ? <p className="text-muted">Nothing in the last 24 hours.</p> : null}
      {traces.data?.items.length && shown ? (
        <>
          {isTable ? (
            <DataTable
              label="Calls over time"
              columns={BAR_COLUMNS}
              rows={shown.bars.filter((bar) => bar.calls > 0)}
              keyOf={(bar) => bar.from}
            />
          ) : (
            <div>
              <Sparkline label={`Calls of @${name} over time`} values={shown.bars.map((bar) => bar.calls)} className="h-16 w-full" />
              <div className="flex justify-between text-xs text-muted">
                <span>{shown.span.isWhole ? "24 h ago" : clock(shown.span.from)}</span>
                <span>now</span>
              </div>
            </div>
          )}
          <div className="mt-4 flex flex-wrap items-baseline gap-x-3">
            <h3 className="flex-1 font-semibold">Latest calls</h3>
            <Link to="/traces" search={{ agent: name }} className="inline-flex min-h-6 items-center text-accent hover:underline">
              All traces of @{name}
            </Link>
          </div>
          <DataTable label="Latest calls" columns={CALL_COLUMNS} rows={traces.data.items.slice(0, 10)} keyOf={(trace) => trace.id} />
        </>
      ) : null}
    </section>
  );
}

const OUTCOMES: Record<ChainStep["outcome"], { icon: ReactNode; word: string; colour: string }> = {
  passed: { icon: <Check size={14} />, word: "passed", colour: "text-approved" },
  rests: { icon: <CirclePause size={14} />, word: "waits for the agent", colour: "text-muted" },
  held: { icon: <Hand size={14} />, word: "held back", colour: "text-amber" },
  stopped: { icon: <OctagonX size={14} />, word: "stops here", colour: "text-rejected" },
  later: { icon: <Clock size={14} />, word: "checked each time", colour: "text-muted" },
  unasked: { icon: <CircleDashed size={14} />, word: "not reached", colour: "text-muted" },
};

function StepRow({ step }: { step: ChainStep }) {
  const { icon, word, colour } = OUTCOMES[step.outcome];
  return (
    <li className="flex items-baseline gap-2">
      <span aria-hidden="true" className={`self-center ${colour}`}>
        {icon}
      </span>
      <span className="min-w-0 flex-1">
        <span className={step.outcome === "unasked" ? "text-muted" : "font-medium"}>
          {step.name}
          {step.note ? ":" : ""}
        </span>{" "}
        <span className="text-muted">{step.note}</span>
      </span>
      <span className={`text-sm whitespace-nowrap ${colour}`}>{word}</span>
    </li>
  );
}
