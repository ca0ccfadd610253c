import type { AgentChanges, TriggerMode } from "../../api/agents";
import type { Agent } from "../../api/types";
import { type Workspace, workspaceOf } from "../../api/workspace";
import { joinWords } from "./commandLine";
import { HARNESS_FIELDS, harnessOf, shownHarness } from "./harness";
import { type Program, programOf } from "./programs";

type Harness = NonNullable<Agent["harness"]>;
export type Tools = NonNullable<Harness["tools"]>;
export type Senders = NonNullable<Agent["trigger_from"]>;
export type Reach = NonNullable<Agent["foreign_reach"]>;

export interface Variable {
  name: string;
  value: string;
}

/** What starts an agent and with what, as it is typed. */
export interface RunForm {
  mode: TriggerMode;
  /** Null until one is chosen. */
  adapter: Program | null;
  command: string;
  /** Where an agent is called that runs elsewhere. */
  url: string;
  model: string;
  turns: string;
  runCost: string;
  resume: boolean;
  timeout: string;
  environment: Variable[];
  template: string;
  tools: Tools;
  workspace: Workspace["kind"];
  /** The folder or the repository of the workspace. */
  path: string;
  senders: Senders;
  allowed: string;
  reach: Reach;
  runs: string;
  cost: string;
  others: string;
  cooldown: string;
  depth: string;
  exchanges: string;
}

export const LABELS: Record<keyof RunForm, string> = {
  mode: "When a message arrives",
  adapter: "What runs",
  command: "Command",
  url: "Address",
  model: "Model",
  turns: "Turns per run",
  runCost: "Cost per run",
  resume: "Continue sessions",
  timeout: "Time limit",
  environment: "Environment variables",
  template: "Prompt template",
  tools: "Tools",
  workspace: "Workspace",
  path: "Path of the workspace",
  senders: "Allowed senders",
  allowed: "Also allowed",
  reach: "Runs started by others",
  runs: "Runs per day",
  cost: "Cost per day",
  others: "Share for others",
  cooldown: "Rest between runs",
  depth: "Agents in a row",
  exchanges: "Exchanges",
};

export const DEFAULT_TIMEOUT = 600;

export function formOf(agent: Agent): RunForm {
  const harness = shownHarness(agent);
  return {
    mode: agent.trigger_mode,
    adapter: programOf(harness),
    command: joinWords(harness?.command ?? []),
    url: harness?.url ?? "",
    model: harness?.model ?? "",
    turns: harness?.max_turns?.toString() ?? "",
    runCost: harness?.max_cost_usd?.toString() ?? "",
    resume: harness?.resume ?? false,
    timeout: harness?.timeout_seconds ? String(harness.timeout_seconds) : "",
    environment: Object.entries(harness?.env ?? {}).map(([name, value]) => ({ name, value })),
    template: harness?.prompt_template ?? "",
    tools: harness?.tools ?? "hub",
    workspace: workspaceOf(harness).kind,
    path: workspaceOf(harness).path ?? "",
    senders: agent.trigger_from ?? "people",
    allowed: (agent.trigger_allow ?? []).join(" "),
    reach: agent.foreign_reach ?? "conversation",
    runs: String(agent.budget.runs_per_day),
    cost: agent.budget.cost_usd_per_day?.toString() ?? "",
    others: String(agent.budget.others_percent),
    cooldown: String(agent.cooldown_seconds),
    depth: String(agent.max_trigger_depth),
    exchanges: String(agent.max_round_trips),
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The fields in which two forms differ. */
export function changedFields(before: RunForm, after: RunForm): Array<keyof RunForm> {
  return (Object.keys(LABELS) as Array<keyof RunForm>).filter((field) => !isSame(before[field], after[field]));
}

export type FormErrors = Partial<Record<keyof RunForm, string>>;

/** What changes when something else is chosen to run. A message starts it then, and the words of another command are not its own. */
export function chosen(agent: Agent, program: Program): Partial<RunForm> {
  const saved = formOf(agent);
  return { adapter: program, mode: "reactive", command: saved.adapter === program ? saved.command : "" };
}

/** Names as people type them: with or without @, and with spaces or commas between them. */
export const namesIn = (text: string) => text.split(/[\s,]+/).map((name) => name.replace(/^@/, "")).filter(Boolean);

/** What differs from the agent as it is, and what cannot be understood. The hub checks the limits. */
export function changesOf(agent: Agent, form: RunForm): { changes: AgentChanges; errors: FormErrors } {
  const changes: AgentChanges = {};
  const errors: FormErrors = {};
  const fields = changedFields(formOf(agent), form);
  const number = (field: "runs" | "others" | "cooldown" | "depth" | "exchanges", put: (value: number) => void) => {
    if (!/^\d{1,9}$/.test(form[field].trim())) errors[field] = "Enter a whole number, 0 or more";
    else if (fields.includes(field)) put(Number(form[field]));
  };
  const budget = (more: NonNullable<AgentChanges["budget"]>) => (changes.budget = { ...changes.budget, ...more });
  if (fields.includes("mode")) changes.trigger_mode = form.mode;
  if (fields.includes("senders")) changes.trigger_from = form.senders;
  if (fields.includes("allowed")) changes.trigger_allow = namesIn(form.allowed);
  if (fields.includes("reach")) changes.foreign_reach = form.reach;
  number("runs", (runs_per_day) => budget({ runs_per_day }));
  number("others", (others_percent) => budget({ others_percent }));
  number("cooldown", (value) => (changes.cooldown_seconds = value));
  number("depth", (value) => (changes.max_trigger_depth = value));
  number("exchanges", (value) => (changes.max_round_trips = value));
  if (fields.includes("cost")) {
    const cost = form.cost.trim() === "" ? null : Number(form.cost);
    if (cost !== null && (!Number.isFinite(cost) || cost < 0)) errors.cost = "Enter an amount in dollars, or leave empty for no limit";
    else budget({ cost_usd_per_day: cost });
  }
  if (HARNESS_FIELDS.some((field) => fields.includes(field))) {
    const harness = harnessOf(agent, form, errors);
    if (harness !== undefined) changes.harness = harness;
  }
  return { changes, errors };
}
