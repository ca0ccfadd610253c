import type { AgentChanges, TriggerMode } from "../api/agents";
import type { Agent } from "../api/types";

/** The settings of what starts an agent, as they are typed. */
export interface TriggerForm {
  mode: TriggerMode;
  cooldown: string;
  depth: string;
  runs: string;
  cost: string;
  image: string;
  harness: string;
}

export function formOf(agent: Agent): TriggerForm {
  return {
    mode: agent.trigger_mode,
    cooldown: String(agent.cooldown_seconds),
    depth: String(agent.max_trigger_depth),
    runs: String(agent.budget.runs_per_day),
    cost: agent.budget.cost_usd_per_day?.toString() ?? "",
    image: agent.k8s_image ?? "",
    harness: agent.harness ? JSON.stringify(agent.harness, null, 2) : "",
  };
}

export type FormErrors = Partial<Record<keyof TriggerForm, string>>;

/** What differs from the agent as it is, and what cannot be understood. Limits are the hub's to tell. */
export function changesOf(agent: Agent, form: TriggerForm): { changes: AgentChanges; errors: FormErrors } {
  const before = formOf(agent);
  const changes: AgentChanges = {};
  const errors: FormErrors = {};
  const whole = (field: "cooldown" | "depth" | "runs"): number | undefined => {
    const text = form[field].trim();
    if (/^\d{1,9}$/.test(text)) return Number(text);
    errors[field] = "A whole number, 0 or more";
    return undefined;
  };
  if (form.mode !== before.mode) changes.trigger_mode = form.mode;
  const cooldown = whole("cooldown");
  if (cooldown !== undefined && cooldown !== agent.cooldown_seconds) changes.cooldown_seconds = cooldown;
  const depth = whole("depth");
  if (depth !== undefined && depth !== agent.max_trigger_depth) changes.max_trigger_depth = depth;
  const runs = whole("runs");
  if (runs !== undefined && runs !== agent.budget.runs_per_day) changes.budget = { ...changes.budget, runs_per_day: runs };
  const cost = form.cost.trim();
  if (cost !== before.cost) {
    const amount = cost === "" ? null : Number(cost);
    if (amount !== null && (!Number.isFinite(amount) || amount < 0)) errors.cost = "An amount in dollars, or nothing for no limit";
    else changes.budget = { ...changes.budget, cost_usd_per_day: amount };
  }
  if (form.image.trim() !== before.image) changes.k8s_image = form.image.trim() || null;
  if (form.harness.trim() !== before.harness) {
    try {
      changes.harness = form.harness.trim() ? (JSON.parse(form.harness) as AgentChanges["harness"]) : null;
    } catch {
      errors.harness = "This is not JSON";
    }
  }
  return { changes, errors };
}
