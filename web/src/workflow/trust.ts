import type { Trust } from "../api/trust";
import type { Channel, Message } from "../api/types";

/** What people's words add to the trust in an agent, or take. */
export const GAINED = 0.05;
export const LOST = 0.1;
const USUAL_KIND = "publish";

/** The kind of work that a message is, by which its author is trusted. */
export function actionTypeOf(message: Message): string {
  const { action_type: said, action_type_by: by } = message.metadata as Record<string, unknown>;
  // A kind that somebody else gave the message says nothing about its author.
  if (by !== undefined) return USUAL_KIND;
  return typeof said === "string" && /^[a-z0-9_.-]{1,64}$/.test(said) ? said : USUAL_KIND;
}

const within = (score: number) => Math.round(Math.min(1, Math.max(0, score)) * 100) / 100;

export interface Effect {
  kind: string;
  now: number;
  approved: number;
  rejected: number;
}

/** What approving and rejecting a message does to the trust in its author. */
export function effectOf(message: Message, trust: readonly Trust[]): Effect {
  const kind = actionTypeOf(message);
  const now = trust.find((one) => one.action_type === kind)?.score ?? 0;
  return { kind, now: within(now), approved: within(now + GAINED), rejected: within(now - LOST) };
}

/** How much trust channels ask for, and which of them. */
export interface Threshold {
  at: number;
  channels: string[];
}

/** What the workflow channels ask for in a kind of work: to publish, or to approve and be approved. */
export function thresholdsOf(kind: string, channels: readonly Channel[]): Threshold[] {
  const byScore = new Map<number, string[]>();
  for (const channel of channels) {
    if (!channel.workflow_enabled) continue;
    const at = kind === USUAL_KIND ? channel.publish_threshold : channel.approve_threshold;
    byScore.set(at, [...(byScore.get(at) ?? []), channel.name]);
  }
  return [...byScore].map(([at, names]) => ({ at, channels: names })).sort((one, other) => one.at - other.at);
}
