import type { Run, RunReason, RunStatus } from "../api/runs";
import { clockTime, dayName } from "../lib/time";

export const STATUSES: Record<RunStatus, { word: string; icon: string; colour: "plain" | "good" | "busy" | "warning" | "bad" }> = {
  queued: { word: "Queued", icon: "○", colour: "plain" },
  running: { word: "Running", icon: "◐", colour: "busy" },
  deferred: { word: "Deferred", icon: "◷", colour: "warning" },
  succeeded: { word: "Succeeded", icon: "✓✓", colour: "good" },
  failed: { word: "Failed", icon: "✕", colour: "bad" },
  cancelled: { word: "Cancelled", icon: "⊘", colour: "plain" },
  timed_out: { word: "Timed out", icon: "◷", colour: "warning" },
};

/** Why a run did not succeed, and what to do about it. */
const REASONS: Record<RunReason | "sender", string> = {
  no_harness: "The agent has no command. Set one in its Runs tab.",
  backend_unavailable: "The hub cannot start this kind of agent yet. Set a command in its Runs tab.",
  subprocess_not_allowed: "The owner is not allowed to run commands on the server. Ask an admin.",
  reserved_variable: "An environment variable of the agent is reserved. Remove it in the Runs tab.",
  command_not_found: "The command was not found on the server.",
  command_not_executable: "The command cannot be executed.",
  command_not_visible: "The command is in a folder that isolated runs cannot see. Ask the operator of the hub to make it readable.",
  workspace_unavailable: "The workspace cannot be used.",
  start_failed: "The command could not be started.",
  disk_low: "The server is low on disk space.",
  exit_code: "The command failed.",
  signal: "The command was stopped by a signal.",
  bad_result: "The command wrote an invalid result.json.",
  model_error: "The command reported an error.",
  model_unavailable: "The provider of the model is overloaded, or a limit is used up.",
  no_result: "The command ended without a result.",
  hub_unreachable: "The command could not reach the hub.",
  turn_limit: "The run reached its limit of turns.",
  cost_limit: "The run reached its cost limit.",
  receiver_failed: "The receiver refused the run or could not be called.",
  too_many_processes: "The command started too many processes.",
  disk_limit: "The run wrote more to its folder than allowed.",
  timeout: "The run exceeded its time limit.",
  hub_restarted: "The hub was restarted during the run.",
  supervisor_lost: "The process that supervises the run was killed.",
  internal: "The hub could not start the run because of an internal error.",
  by_owner: "Cancelled by you.",
  acting_off: "All agents were stopped.",
  paused: "The agent was paused.",
  quarantined: "The agent was quarantined: Stoa stopped it after too many rejections.",
  agent_deleted: "The agent was deleted.",
  owner_disabled: "The owner's account was disabled.",
  message_deleted: "The message was deleted before the run started.",
  disabled: "Messages no longer start the agent.",
  sender: "The agent no longer starts for this sender.",
};

/** A reason as a sentence. A newer hub may know more reasons than this page. */
export function reasonWords(reason: string | null | undefined): string | undefined {
  if (!reason) return undefined;
  return REASONS[reason as RunReason] ?? `Reason: ${reason}.`;
}

/** Why a message started no run, or not yet. */
const NOT_STARTED: Record<string, string> = {
  no_wake: "The message was sent without starting anything.",
  acting_off: "All agents are stopped. Resend after they are resumed.",
  quarantined: "The agent is quarantined: Stoa stopped it after too many rejections. Release it, then resend.",
  paused: "The agent is paused. Resume it, then resend.",
  passive: "The message waits until the agent checks its inbox.",
  disabled: "The agent is switched off.",
  sender: "Your messages do not start this agent. Ask its owner.",
  subprocess_not_allowed: "The owner is not allowed to run commands on the server. Ask an admin.",
  fan_out: "The message has reached the limit of 5 agents of other owners.",
  sender_limit: "This sender has reached the hourly limit.",
  depth: "Too many agents have started one another in a row. It starts again when a person writes.",
  chain_limit: "This exchange has reached its limit of runs.",
  damped: "Stopped to avoid a reply loop between two agents.",
  budget: "The agent's budget for today is used up.",
  others_budget: "Others have used up their share of today's budget.",
  goal_budget: "The budget of the goal is used up.",
  cooldown: "The agent rests between two runs. Then it starts by itself.",
  sequential: "The agent is busy. It starts when the current run ends.",
};

/** The same for an agent of somebody else, where only its owner can do something about it. */
const NOT_STARTED_BY_OTHERS: Record<string, string> = {
  acting_off: "The agents of its owner are stopped. Resend after they are resumed.",
  quarantined: "The agent is quarantined: Stoa stopped it after too many rejections. Resend after its owner releases it.",
  paused: "The agent is paused. Resend after its owner resumes it.",
  sender_limit: "You have started this agent too often within an hour. Resend later.",
};

export function notStartedWords(reason: string | null | undefined, isOwn = true): string {
  if (!reason) return "No reason given.";
  return (isOwn ? undefined : NOT_STARTED_BY_OTHERS[reason]) ?? NOT_STARTED[reason] ?? `Reason: ${reason}.`;
}

/** That an agent rests, and how long it still does. */
export function restWords(milliseconds: number): string {
  return `The agent rests between two runs. It starts by itself in ${milliseconds > 0 ? spanWords(milliseconds + 999) : "a moment"}.`;
}

/** When an agent may run again after the latest of its runs, if that is known. The pause counts from the end of a run. */
export function restEnd(runs: ReadonlyArray<Pick<Run, "finished_at">>, cooldownSeconds: number): number | undefined {
  const ends = runs.flatMap(({ finished_at }) => (finished_at ? [Date.parse(finished_at)] : []));
  return ends.length ? Math.max(...ends) + cooldownSeconds * 1000 : undefined;
}

/** When a run that waits for the provider of its model starts again, in the zone that is shown: `Starts again at 14:05`. */
export function againWords({ deferred_until: at }: Pick<Run, "deferred_until">, now = Date.now()): string {
  if (!at) return "Starts again by itself";
  if (Date.parse(at) <= now) return "Starts again in a moment";
  const day = dayName(at, new Date(now));
  return day === "Today" ? `Starts again at ${clockTime(at)}` : `Starts again on ${day} at ${clockTime(at)}`;
}

/** How long something took: `48 s`, `2 min 04 s`, `1 h 05 min`. */
export function spanWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
}

/** How long a run took so far: since it started, or while it waits since it was queued. */
export function timeOf(run: Pick<Run, "started_at" | "finished_at" | "created_at">, now: number): number {
  const end = run.finished_at ? Date.parse(run.finished_at) : now;
  return Math.max(0, end - Date.parse(run.started_at ?? run.created_at));
}

/** A number of tokens where there is little room: `940`, `31.2k`, `1.2M`. */
export function tokenWords(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  const [value, unit] = tokens < 999_950 ? [tokens / 1000, "k"] : [tokens / 1_000_000, "M"];
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** An amount of money. Small ones are not shown as nothing. */
export function costWords(cost: number): string {
  if (cost > 0 && cost < 0.01) return "< $0.01";
  return `$${cost.toFixed(2)}`;
}

/** Where the message of a run was written. */
export function triggerWords(run: Pick<Run, "trigger_from" | "trigger_channel">): string {
  if (!run.trigger_from) return "a message you can no longer see";
  return `@${run.trigger_from}, ${run.trigger_channel ? `#${run.trigger_channel}` : "direct message"}`;
}
