import type { Agent } from "../../api/types";
import { splitWords } from "./commandLine";
import type { FormErrors, RunForm } from "./form";
import { programOf, settingsOf } from "./programs";

type Harness = NonNullable<Agent["harness"]>;

/** A harness of another backend is not shown in the fields of a command. */
const commandOf = (agent: Agent): Harness | null => (agent.harness?.backend === "subprocess" ? agent.harness : null);

/** A harness without a card is not shown at all. */
export const shownHarness = (agent: Agent): Harness | null => (programOf(agent.harness) === null ? null : (agent.harness ?? null));

/** What of the form the harness consists of. */
export const HARNESS_FIELDS: ReadonlyArray<keyof RunForm> = [
  ...(["adapter", "command", "url", "model", "turns", "runCost", "resume"] as const),
  ...(["timeout", "environment", "template", "tools", "workspace", "path"] as const),
];

/** What runs, as the form says it; null if nothing does, undefined if something in it is wrong. */
export const harnessOf = (agent: Agent, form: RunForm, errors: FormErrors): Harness | null | undefined =>
  form.adapter === "webhook" ? remoteHarness(form, errors) : commandHarness(agent, form, errors);

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
  const isEmpty = !isKnown && words?.length === 0 && variables.length === 0 && !form.template.trim() && !form.timeout.trim() && form.workspace === "empty";
  if (words?.length === 0 && !isEmpty && !isKnown) errors.command = "Enter a command";
  if (HARNESS_FIELDS.some((field) => errors[field])) return undefined;
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
    workspace: form.workspace === "empty" ? undefined : { kind: form.workspace, path: form.path.trim() || undefined },
  };
}
