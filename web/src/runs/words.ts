import type { Run, RunReason, RunStatus } from "../api/runs";

export const STATUSES: Record<RunStatus, { word: string; icon: string; colour: "plain" | "good" | "busy" | "warning" | "bad" }> = {
  queued: { word: "Queued", icon: "○", colour: "plain" },
  running: { word: "Running", icon: "◐", colour: "busy" },
  succeeded: { word: "Succeeded", icon: "✓✓", colour: "good" },
  failed: { word: "Failed", icon: "✕", colour: "bad" },
  cancelled: { word: "Cancelled", icon: "⊘", colour: "plain" },
  timed_out: { word: "Timed out", icon: "◷", colour: "warning" },
};

/** Why a run did not succeed, and what to do about it. */
const REASONS: Record<RunReason | "sender", string> = {
  no_harness: "The agent has no command to run. Set one on its page.",
  backend_unavailable: "This hub cannot run agents with this backend yet.",
  subprocess_not_allowed: "The owner may not start programs on the hub's machine. An administrator can allow it.",
  reserved_variable: "A variable of the agent's settings is reserved. Remove it on the agent's page.",
  command_not_found: "The command was not found on the hub's machine.",
  command_not_executable: "The command cannot be executed.",
  start_failed: "The command could not be started.",
  disk_low: "The hub's machine has too little disk space left.",
  exit_code: "The command ended with an error.",
  signal: "A signal ended the command.",
  bad_result: "The command left a result.json that cannot be read.",
  too_many_processes: "The command started too many processes.",
  disk_limit: "The run wrote more to its folder than it may.",
  timeout: "The run took longer than its time limit.",
  hub_restarted: "The hub was restarted during the run.",
  supervisor_lost: "The process that watches the run was killed.",
  internal: "The hub could not run it because of an error of its own.",
  by_owner: "You cancelled it.",
  acting_off: "All agents were stopped.",
  paused: "The agent was paused.",
  quarantined: "The agent was quarantined.",
  agent_deleted: "The agent was deleted.",
  owner_disabled: "The owner's account was disabled.",
  message_deleted: "The message was deleted before the run started.",
  disabled: "Messages no longer start the agent.",
  sender: "The agent no longer starts for this sender.",
};

/** A reason as a sentence. A newer hub may know more reasons than this page. */
export function reasonWords(reason: string | null | undefined): string | undefined {
  if (!reason) return undefined;
  return REASONS[reason as RunReason] ?? `The hub gives this reason: ${reason}.`;
}

/** Why a message started no run, or not yet. */
const NOT_STARTED: Record<string, string> = {
  no_wake: "It was sent without starting anything.",
  acting_off: "All agents are stopped. Send it again after they are resumed.",
  quarantined: "The agent is quarantined. Send it again after you lift that.",
  paused: "The agent is paused. Send it again after you resume it.",
  passive: "The agent reads its inbox by itself; messages do not start it.",
  disabled: "The agent is turned off.",
  sender: "The agent does not start for this sender.",
  subprocess_not_allowed: "The owner may not start programs on the hub's machine. An administrator can allow it.",
  fan_out: "The message has started 5 agents of other owners, which is the limit.",
  sender_limit: "This sender has started the agent as often as allowed in an hour.",
  depth: "Too many agents have answered one another before.",
  chain_limit: "This exchange has started as many runs as it may.",
  damped: "The two agents have answered one another often enough, or the message asks for nothing.",
  budget: "The agent's budget for today is used up.",
  others_budget: "Others have used their part of today's budget.",
  goal_budget: "The budget of the goal is used up.",
  cooldown: "The pause after the last run is not over.",
  sequential: "The agent is busy. It starts on this when its run ends.",
};

export function notStartedWords(reason: string | null | undefined): string {
  return (reason && NOT_STARTED[reason]) || (reason ? `The hub gives this reason: ${reason}.` : "The hub gives no reason.");
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
  if (!run.trigger_from) return "a message that you no longer see";
  return `@${run.trigger_from}, ${run.trigger_channel ? `#${run.trigger_channel}` : "direct message"}`;
}
