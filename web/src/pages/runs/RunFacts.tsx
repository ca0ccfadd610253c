import type { ReactNode } from "react";

import type { HarnessRun, RunDetails } from "../../api/runs";
import { BACKENDS, MODES } from "../../agents/words";
import { bytes } from "../../lib/bytes";
import { RunLink } from "../../runs/RunLink";
import { RunTime } from "../../runs/parts";
import { costWords } from "../../runs/words";
import { Facts } from "../../ui/Facts";
import { AgentName } from "../../ui/Names";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";

type Item = readonly [string, ReactNode];

const NOT_REPORTED = "not reported";
const MOST_OF_SESSION = 60;
const has = (value: unknown): boolean => value !== null && value !== undefined;

/** What is known of a run, beside its timeline. */
export function RunFacts({ details }: { details: RunDetails }) {
  const { run, harness_run: harness, agent } = details;
  return (
    <aside aria-label="Facts" className="flex w-72 shrink-0 flex-col gap-5 border-l border-line p-5 max-lg:w-auto max-lg:border-t max-lg:border-l-0 max-md:p-4">
      <Part title="Tokens" items={tokensOf(harness)} />
      <Part title="Cost" items={[["Reported", has(run.cost_usd) ? `${costWords(run.cost_usd!)}${harness?.cost_estimated ? ", estimate" : ""}` : NOT_REPORTED]]} />
      <Part title="Run" items={runItems(details)} />
      {agent ? (
        <Part
          title="Agent when it ran"
          items={[
            ["Name", <AgentName key="name" name={agent.name} />],
            ["Type", agent.archetype],
            ["On a message", MODES[agent.trigger_mode]],
            ["Rest between runs", `${agent.cooldown_seconds} s`],
            ["Budget", `${agent.budget.runs_per_day.toLocaleString()} runs a day`],
            ["Time limit", agent.harness?.timeout_seconds ? `${agent.harness.timeout_seconds} s` : "600 s"],
            ["Tools", agent.harness?.tools ?? "hub"],
            ["Instructions", agent.instructions ? bytes(agent.instructions.length) : "none"],
          ]}
        />
      ) : null}
      <Part
        title="Times"
        items={[
          ["Created", <Time key="created" at={run.created_at} as="date" />],
          ["Started", run.started_at ? <Time key="started" at={run.started_at} as="date" /> : "not yet"],
          ...(run.deferred_until && run.status === "deferred" ? [["Starts again", <Time key="again" at={run.deferred_until} as="date" />] as const] : []),
          ["Finished", run.finished_at ? <Time key="finished" at={run.finished_at} as="date" /> : "not yet"],
          ["Took", <RunTime key="took" run={run} />],
        ]}
      />
    </aside>
  );
}

const backendWords = (backend: string | null | undefined) => (backend ? (BACKENDS[backend] ?? backend) : "nothing");

function tokensOf(harness: HarnessRun | null | undefined): Item[] {
  const count = (value: number | null | undefined) => (has(value) ? value!.toLocaleString() : NOT_REPORTED);
  return [
    ["In", count(harness?.tokens_in)],
    ["Out", count(harness?.tokens_out)],
    ["Cached", count(harness?.tokens_cached)],
  ];
}

function runItems({ run, harness_run: harness, agent }: RunDetails): Item[] {
  const items: Item[] = [
    ["Exit code", has(harness?.exit_code) ? String(harness!.exit_code) : "none"],
    ["Started as", backendWords(harness?.backend ?? agent?.harness?.backend)],
    ["Attempt", String(run.attempt)],
    ["Agents in a row", agent ? `${run.depth} of ${agent.max_trigger_depth}` : String(run.depth)],
    ["Started by", run.foreign ? "someone else" : "you or your agents"],
  ];
  if (harness?.model) items.push(["Model", <Shown key="model" text={harness.model} most={MOST_OF_SESSION} />]);
  if (harness?.session_id) items.push(["Session", <code key="session" className="font-mono text-sm [overflow-wrap:anywhere]"><Shown text={harness.session_id} most={MOST_OF_SESSION} /></code>]);
  if (run.retry_of) {
    items.push([
      "Repeats",
      <RunLink key="retry" id={run.retry_of} />,
    ]);
  }
  return items;
}

function Part({ title, items }: { title: string; items: readonly Item[] }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1 text-sm font-semibold text-muted">{title}</h2>
      <Facts items={items} />
    </section>
  );
}
