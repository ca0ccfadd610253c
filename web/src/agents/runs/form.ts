import type { AgentChanges, TriggerMode } from "../../api/agents";
import type { Agent } from "../../api/types";
import { joinWords, splitWords } from "./commandLine";
import { type Program, programOf, settingsOf } from "./programs";

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

/** A harness of another backend is not shown in the fields of a command. */
export const commandOf = (agent: Agent): Harness | null => (agent.harness?.backend === "subprocess" ? agent.harness : null);

/** A harness without a card is not shown at all. */
export const shownHarness = (agent: Agent): Harness | null => (programOf(agent.harness) === null ? null : (agent.harness ?? null));

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

const COMMAND_FIELDS: ReadonlyArray<keyof RunForm> = [
  ...(["adapter", "command", "url", "model", "turns", "runCost", "resume"] as const),
  ...(["timeout", "environment", "template", "tools"] as const),
];

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
  if (COMMAND_FIELDS.some((field) => fields.includes(field))) {
    const harness = form.adapter === "webhook" ? remoteHarness(form, errors) : commandHarness(agent, form, errors);
    if (harness !== undefined) changes.harness = harness;
  }
  return { changes, errors };
}

function checkTimeout({ timeout }: RunForm, errors: FormErrors): void {
  if (!/^\d{0,6}$/.test(timeout.trim())) errors.timeout = "Enter a number of seconds, or leave empty for 600";
}

/** What every way to run has. */
const sharedSettings = (form: RunForm) => ({
  timeout_seconds: form.timeout.trim() ? Number(form.timeout) : undefined,
  prompt_template: form.template.trim() ? form.template : undefined,
});

/** An agent that runs elsewhere; undefined if something is wrong. The hub checks the address. */
function remoteHarness(form: RunForm, errors: FormErrors): Harness | undefined {
  checkTimeout(form, errors);
  return errors.timeout ? undefined : { backend: "webhook", url: form.url.trim() || undefined, ...sharedSettings(form) };
}

/** The command with its settings; null if there is none, undefined if something in it is wrong. */
function commandHarness(agent: Agent, form: RunForm, errors: FormErrors): Harness | null | undefined {
  const { words, error } = splitWords(form.command);
  const variables = form.environment.filter(({ name, value }) => name.trim() || value);
  const names = variables.map(({ name }) => name.trim());
  if (error !== undefined) errors.command = error;
  checkTimeout(form, errors);
  if (names.includes("")) errors.environment = "Each variable needs a name";
  else if (new Set(names).size < names.length) errors.environment = "Two variables have the same name";
  const can = settingsOf(form.adapter);
  if (can.turns && !/^\d{0,4}$/.test(form.turns.trim())) errors.turns = "Enter a whole number, or leave empty for no limit";
  const runCost = Number(form.runCost);
  if (can.cost && (!Number.isFinite(runCost) || runCost < 0)) errors.runCost = "Enter an amount in dollars, or leave empty for no limit";
  const { url: _, ...kept } = commandOf(agent) ?? { url: undefined };
  // The hub knows the commands of some programs.
  const isKnown = form.adapter !== null && form.adapter !== "generic";
  const isEmpty = !isKnown && words?.length === 0 && variables.length === 0 && !form.template.trim() && !form.timeout.trim();
  if (words?.length === 0 && !isEmpty && !isKnown) errors.command = "Enter a command";
  if (COMMAND_FIELDS.some((field) => errors[field])) return undefined;
  if (isEmpty) return null;
  const own: Partial<Harness> = {
    adapter: isKnown ? (form.adapter as Harness["adapter"]) : undefined,
    model: (isKnown && form.model.trim()) || undefined,
    max_turns: can.turns && form.turns.trim() ? Number(form.turns) : undefined,
    max_cost_usd: can.cost && form.runCost.trim() ? runCost : undefined,
    resume: (can.resume && form.resume) || undefined,
  };
  // What the form does not show of a command of one's own stays as it is.
  const isSameOwn = !isKnown && programOf(commandOf(agent)) === "generic" && "adapter" in kept;
  return {
    ...kept,
    ...(isSameOwn ? {} : own),
    backend: "subprocess",
    command: words?.length === 0 ? undefined : words,
    ...sharedSettings(form),
    env: variables.length ? Object.fromEntries(variables.map(({ name, value }) => [name.trim(), value])) : undefined,
    tools: form.tools === "hub" ? undefined : form.tools,
  };
}
