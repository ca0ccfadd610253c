import type { Run } from "../../api/runs";
import type { Agent } from "../../api/types";
import { againWords } from "../../runs/words";

/** When an agent reads the next message, and whether it works. Undefined if it starts at once. */
export interface NextReadWords {
  icon: string;
  text: string;
  isWorking: boolean;
}

export function nextReadWords(agent: Agent, name: string, run: Pick<Run, "id" | "status" | "deferred_until"> | undefined, isWorking: boolean): NextReadWords | undefined {
  // The hub does not start such an agent, so pausing it does not keep its client from reading.
  const isPassive = agent.trigger_mode === "passive";
  if (run?.status === "deferred") {
    return { icon: "◷", text: `${name} waits for the provider of its model and reads your next message then. ${againWords(run)}.`, isWorking: false };
  }
  if (run) return { icon: "◐", text: `${name} is working. It reads your next message when run ${run.id} ends.`, isWorking: true };
  if (isWorking) return { icon: "◐", text: `${name} is working. It reads your next message when it checks its inbox again.`, isWorking: true };
  if (agent.quarantined_at) {
    const then = isPassive ? "Its client can still read your messages." : "It starts nothing until you release it on its page.";
    return { icon: "!", text: `${name} is quarantined: Stoa stopped it after too many rejections. ${then}`, isWorking: false };
  }
  if (!agent.paused_at) return undefined;
  const then = isPassive ? "Its client can still read your messages." : "It starts nothing until you resume it.";
  return { icon: "‖", text: `${name} is paused. ${then}`, isWorking: false };
}
