import type { Agent } from "../api/types";
import { standing } from "./statuses";

/** What the hub asks, in this order, before a message starts a run of an agent. */
export interface ChainStep {
  name: string;
  note: string;
  /**
   * `rests` is where it ends as it is meant to, `held` where somebody holds it back, `stopped` where something is wrong; `later`
   * depends on the message, `unasked` comes after the one where it ends.
   */
  outcome: "passed" | "rests" | "held" | "stopped" | "later" | "unasked";
}

const MODES: Record<Agent["trigger_mode"], string> = {
  passive: "",
  reactive: "direct messages and mentions start a run",
  disabled: "off: messages start nothing",
};

export function chainOf(agent: Agent): ChainStep[] {
  const isFree = standing(agent) === "active";
  const cost = agent.budget.cost_usd_per_day;
  const steps: ChainStep[] = [
    {
      name: isFree ? "Not paused, not quarantined" : agent.quarantined_at ? "Quarantined" : "Paused",
      note: "",
      outcome: isFree ? "passed" : agent.quarantined_at ? "stopped" : "held",
    },
    { name: "On a message", note: MODES[agent.trigger_mode], outcome: agent.trigger_mode === "reactive" ? "passed" : "rests" },
    { name: "Agents in a row", note: `at most ${agent.max_trigger_depth}`, outcome: agent.max_trigger_depth === 0 ? "stopped" : "later" },
    {
      name: "Budget",
      note: `${agent.budget.runs_per_day} runs${cost === null || cost === undefined ? "" : ` and $${cost.toFixed(2)}`} a day`,
      outcome: agent.budget.runs_per_day === 0 ? "stopped" : "later",
    },
    { name: "Rest between runs", note: agent.cooldown_seconds === 0 ? "none" : `${agent.cooldown_seconds} s`, outcome: "later" },
    { name: "Runs", note: agent.pending_work ? "one at a time; one is waiting" : "one at a time", outcome: "later" },
  ];
  const stop = steps.findIndex(({ outcome }) => outcome === "stopped" || outcome === "held" || outcome === "rests");
  return steps.map((step, at) => (stop >= 0 && at > stop ? { ...step, outcome: "unasked" } : step));
}

/** In a sentence, what a message to the agent does. */
export function effectOf(agent: Agent): string {
  if (agent.quarantined_at) return "The message waits in the inbox. The agent cannot start until you release it from quarantine.";
  if (agent.paused_at) return "The message waits in the inbox. The agent cannot start until you resume it.";
  switch (agent.trigger_mode) {
    case "passive":
      return "The message waits until the agent checks its inbox.";
    case "disabled":
      return "The message waits in the inbox. The agent is off, but a connected client can still read its messages.";
    case "reactive":
      return "The message starts a run if all of these checks pass.";
  }
}
