import type { Message } from "../api/types";
import { duration } from "../lib/time";
import type { AskedAgent } from "./askedAgents";

export interface InboxStatus {
  word: string;
  /** How long it waits or took, if that is known. */
  span?: string;
  icon: string;
  colour: "plain" | "good" | "busy" | "bad";
  /** Why nothing happens, if the person may wonder. */
  hint?: string;
}

/** What became of a message in the inbox of an agent, by what the message itself says. */
export function inboxStatus(message: Message, agent: AskedAgent, now: number): InboxStatus {
  const sent = Date.parse(message.created_at);
  const since = message.status_since ? Date.parse(message.status_since) : undefined;
  const took = since === undefined ? undefined : duration(since - sent);
  switch (message.status) {
    case "pending":
      return { word: "Waiting", span: duration(now - sent), icon: "○", colour: "plain", hint: waitingWords(agent) };
    case "processing":
      return { word: "Working", span: since === undefined ? undefined : duration(now - since), icon: "◐", colour: "busy" };
    case "done":
      return { word: "Done", span: took, icon: "✓✓", colour: "good" };
    case "failed":
      return { word: "Failed", span: took === undefined ? undefined : `after ${took}`, icon: "✕", colour: "bad" };
  }
}

function waitingWords({ own }: AskedAgent): string | undefined {
  if (!own) return undefined;
  if (own.quarantined_at) return "The agent is quarantined: release it on its page.";
  if (own.paused_at) return "The agent is paused: resume it on its page.";
  return "The agent reads it when it next checks its inbox.";
}
