import type { Delivery, Run } from "../api/runs";
import type { Message } from "../api/types";
import { duration } from "../lib/time";
import { REACTIONS, leading } from "../messages/reactions";
import type { AskedAgent } from "./askedAgents";
import { isFinished } from "./shownDelivery";
import { againWords, notStartedWords, reasonWords, timeOf } from "./words";

/** What an agent does about work, as words beside the state of the work. */
export interface WorkWords {
  /** Missing if the state already says it. */
  text?: string;
  isBad?: boolean;
}

/** Whether the state of the work comes from this agent. Then the state says what the agent does. */
function hasSaid(work: Message, agent: AskedAgent): boolean {
  const first = leading(work.reactions);
  return first !== undefined && REACTIONS[first].state === work.workflow_state && work.reactions.some(({ reaction, from }) => reaction === first && from.name === agent.name);
}

/** The line changes once a minute, so seconds would be wrong. */
const MINUTE_MS = 60_000;

const working = (work: Message, agent: AskedAgent, milliseconds: number | undefined) =>
  `@${agent.name} is ${isFinished(work) ? "still " : ""}working on it${milliseconds === undefined || milliseconds < MINUTE_MS ? "" : `, ${duration(milliseconds)}`}`;

/** What an agent that reads its inbox by itself does about work that mentions it. `copy` is the mention in its inbox. */
export function inboxWords(work: Message, copy: Message, agent: AskedAgent, now: number): WorkWords {
  if (copy.status === "failed") return { text: `@${agent.name} failed:`, isBad: true };
  if (hasSaid(work, agent)) return {};
  switch (copy.status) {
    case "pending":
      return { text: isFinished(work) ? undefined : waiting(agent) };
    case "processing":
      return { text: working(work, agent, copy.status_since ? now - Date.parse(copy.status_since) : undefined) };
    case "done":
      return { text: isFinished(work) ? undefined : `@${agent.name} has read it` };
  }
}

function waiting({ name, own }: AskedAgent): string {
  if (own?.quarantined_at) return `@${name} is quarantined`;
  return own?.paused_at ? `@${name} is paused` : `@${name} has not started on it`;
}

/** Why an agent was not started for work that mentions it, or not yet. */
export function notStarted(work: Message, { name, own }: AskedAgent, { state, reason }: Pick<Delivery, "state" | "reason">): WorkWords {
  if (isFinished(work)) return {};
  const why = notStartedWords(reason, own !== undefined);
  if (state === "not_woken") return { text: `@${name} was not started. ${why}`, isBad: true };
  return { text: why.startsWith("The agent ") ? why.replace("The agent", `@${name}`) : `@${name}: ${why}` };
}

const REASON_OF_WAIT = "the provider of its model is overloaded, or a limit is used up.";

/** What an agent that the hub starts does about work that mentions it. */
export function runWords(work: Message, run: Run, agent: AskedAgent, now: number): WorkWords {
  switch (run.status) {
    case "queued":
      return { text: `@${agent.name} waits for a free slot` };
    case "running":
      return { text: hasSaid(work, agent) ? undefined : working(work, agent, timeOf(run, now)) };
    case "deferred":
      return { text: `@${agent.name} waits: ${REASON_OF_WAIT} ${againWords(run, now)}.` };
    case "succeeded":
      return { text: hasSaid(work, agent) ? undefined : `@${agent.name} has answered` };
    case "cancelled":
      return { text: `@${agent.name} was stopped. ${reasonWords(run.reason) ?? ""}`.trim() };
    case "failed":
    case "timed_out":
      return { text: `@${agent.name} failed:`, isBad: true };
  }
}
