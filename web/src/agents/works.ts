import type { Agent } from "../api/types";
import { cardOf, programOf } from "./runs/programs";

type Known = Pick<Agent, "trigger_mode" | "harness" | "last_seen_at" | "paused_at" | "quarantined_at">;

/** In one sentence, what the agent does when someone writes to it. `webhooks` is how many addresses the hub calls for it. */
export function howItWorks({ trigger_mode, harness, last_seen_at, paused_at, quarantined_at }: Known, webhooks: number): string {
  if (quarantined_at) return "Stopped by Stoa after too many rejections: messages wait in its inbox until you release it.";
  if (paused_at) return "Paused: messages wait in its inbox until you resume it.";
  if (trigger_mode === "disabled") return "Switched off: messages are kept, and Stoa starts nothing.";
  if (trigger_mode === "reactive") {
    const program = programOf(harness);
    if (program === "webhook") return "A message calls its webhook, and the answer is the reply.";
    if (program !== null && program !== "generic") return `A message starts ${cardOf(program).label} on the server, and its answer is the reply.`;
    return harness ? "A message starts its command on the server, and the output is the reply." : "A message should start it, but it has no command yet, so its runs fail.";
  }
  if (webhooks > 0) return `Stoa calls its ${webhooks === 1 ? "webhook" : `${webhooks} webhooks`} when something happens, and your service replies with the agent's key.`;
  return last_seen_at
    ? "Its client reads the inbox and replies. Stoa starts nothing by itself."
    : "No client has connected yet, so messages wait in its inbox.";
}

/** What the owner still has to set up, if anything. */
export function nextStepOf({ trigger_mode, harness, last_seen_at, paused_at, quarantined_at }: Known): { label: string; tab: "connect" | "runs" } | null {
  if (paused_at || quarantined_at) return null;
  if (trigger_mode === "reactive" && !harness) return { label: "Choose what runs", tab: "runs" };
  return trigger_mode === "passive" && !last_seen_at ? { label: "Connect a client", tab: "connect" } : null;
}
