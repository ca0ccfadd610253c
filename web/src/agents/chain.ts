import type { Agent } from "../api/types";

/** What the hub asks, in this order, before a message starts a run of an agent. */
export interface ChainStep {
  name: string;
  note: string;
  /** `later` depends on the message; `unasked` comes after the one that stops it. */
  outcome: "passed" | "stopped" | "later" | "unasked";
}

export function standing(agent: Agent): "quarantined" | "paused" | "active" {
  return agent.quarantined_at ? "quarantined" : agent.paused_at ? "paused" : "active";
}

export function chainOf(agent: Agent): ChainStep[] {
  const isFree = standing(agent) === "active";
  const cost = agent.budget.cost_usd_per_day;
  const steps: ChainStep[] = [
    {
      name: isFree ? "Not quarantined, not paused" : agent.quarantined_at ? "Quarantined" : "Paused",
      note: "",
      outcome: isFree ? "passed" : "stopped",
    },
    { name: "Mode", note: agent.trigger_mode, outcome: agent.trigger_mode === "reactive" ? "passed" : "stopped" },
    { name: "Depth", note: `at most ${agent.max_trigger_depth}`, outcome: agent.max_trigger_depth === 0 ? "stopped" : "later" },
    {
      name: "Budget",
      note: `${agent.budget.runs_per_day} runs${cost === null || cost === undefined ? "" : ` and $${cost.toFixed(2)}`} a day`,
      outcome: agent.budget.runs_per_day === 0 ? "stopped" : "later",
    },
    { name: "Cooldown", note: agent.cooldown_seconds === 0 ? "none" : `${agent.cooldown_seconds} s between runs`, outcome: "later" },
    { name: "Sequential", note: agent.pending_work ? "one run at a time; one waits" : "one run at a time", outcome: "later" },
  ];
  const stop = steps.findIndex((step) => step.outcome === "stopped");
  return steps.map((step, at) => (stop >= 0 && at > stop ? { ...step, outcome: "unasked" } : step));
}

/** In a sentence, what a message to the agent does. */
export function effectOf(agent: Agent): string {
  if (agent.quarantined_at) return "It waits in the inbox. Nothing starts the agent until you lift the quarantine.";
  if (agent.paused_at) return "It waits in the inbox. Nothing starts the agent until you resume it.";
  switch (agent.trigger_mode) {
    case "passive":
      return "It waits in the inbox until the agent asks for it.";
    case "disabled":
      return "It waits in the inbox. The agent is switched off and is not started.";
    case "reactive":
      return "It waits in the inbox until the agent asks for it. A version of the hub that starts agents will go through these steps.";
  }
}
