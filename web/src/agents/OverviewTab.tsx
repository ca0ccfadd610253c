import type { ReactNode } from "react";

import type { Agent } from "../api/types";
import { Facts } from "../ui/Facts";
import { PersonName } from "../ui/Names";
import { Time } from "../ui/Time";
import { ActivitySection } from "./ActivitySection";
import { RecentRuns } from "./runs/RecentRuns";
import { StoppedNotice } from "./StoppedNotice";
import { TriggerChain } from "./TriggerChain";
import { TrustSection } from "./TrustSection";
import { BACKENDS, MODES, WORDS } from "./words";

/** The state of an agent, how far it is trusted and what it did. */
export function OverviewTab({ agent }: { agent: Agent }) {
  return (
    <div className="grid gap-6 p-6 max-md:px-4 xl:grid-cols-[minmax(0,1fr)_360px]">
      <div className="flex min-w-0 flex-col gap-8">
        <StoppedNotice agent={agent} />
        {agent.trigger_mode === "reactive" ? <RecentRuns agent={agent.name} most={3} /> : null}
        <TrustSection name={agent.name} />
        <ActivitySection name={agent.name} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Card title="When a message arrives">
          <TriggerChain agent={agent} />
        </Card>
        <Card title="About">
          <Facts
            items={[
              ["Owner", <PersonName key="owner" name={agent.owner} />],
              ["Type", agent.archetype, WORDS.archetype],
              ["On a message", MODES[agent.trigger_mode], WORDS.mode],
              ["Budget", budgetOf(agent), WORDS.budget],
              ["Agents in a row", `at most ${agent.max_trigger_depth}`, WORDS.depth],
              ["Started as", agent.harness ? [BACKENDS[agent.harness.backend] ?? agent.harness.backend, agent.harness.adapter].filter(Boolean).join(", ") : "nothing", WORDS.backend],
              ["Waiting", agent.pending_work ? "messages wait for the next run" : "nothing", WORDS.pending],
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
