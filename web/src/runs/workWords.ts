import type { Run } from "../api/runs";
import type { Message } from "../api/types";
import { duration } from "../lib/time";
import { REACTIONS, leading } from "../messages/reactions";
import { TERMINAL } from "../workflow/moves";
import type { AskedAgent } from "./askedAgents";
import { reasonWords, timeOf } from "./words";

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

const isFinished = ({ workflow_state: state }: Message) => state != null && TERMINAL.includes(state);

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

/** What an agent that the hub starts does about work that mentions it. */
export function runWords(work: Message, run: Run, agent: AskedAgent, now: number): WorkWords {
  switch (run.status) {
    case "queued":
      return { text: `@${agent.name} waits for a free slot` };
    case "running":
      return { text: hasSaid(work, agent) ? undefined : working(work, agent, timeOf(run, now)) };
    case "succeeded":
      return { text: hasSaid(work, agent) ? undefined : `@${agent.name} has answered` };
    case "cancelled":
      return { text: `@${agent.name} was stopped. ${reasonWords(run.reason) ?? ""}`.trim() };
    case "failed":
    case "timed_out":
      return { text: `@${agent.name} failed:`, isBad: true };
  }
}
