import type { Author, Message, Reacted, Reaction, WorkflowState } from "../api/types";
import { duration } from "../lib/time";
import type { Seat } from "../workflow/seat";
import { kindOf } from "./work";

interface Kind {
  /** What one does with it. */
  verb: string;
  icon: string;
  state: WorkflowState;
  /** What somebody has given with it. */
  noun: string;
  /** What is told when one has done it, and when one has taken it back, before the name of the message. */
  added: string;
  removed: string;
}

/** The reactions there are, in the order in which work goes on. */
export const REACTIONS: Record<Reaction, Kind> = {
  approve: { verb: "Approve", icon: "✓", state: "approved", noun: "approval", added: "Approved", removed: "Approval withdrawn" },
  reject: { verb: "Reject", icon: "✕", state: "rejected", noun: "rejection", added: "Rejected", removed: "Rejection withdrawn" },
  in_progress: { verb: "Claim", icon: "◐", state: "in_progress", noun: "claim", added: "Claimed", removed: "Claim released" },
  done: { verb: "Mark done", icon: "✓✓", state: "done", noun: "“done”", added: "Done", removed: "No longer marked done" },
  published: { verb: "Mark published", icon: "↗", state: "published", noun: "“published”", added: "Published", removed: "No longer marked published" },
};

export const REACTION_NAMES = Object.keys(REACTIONS) as Reaction[];

/** The highest one decides on the state. */
const RANKS: Reaction[] = ["published", "done", "reject", "in_progress", "approve"];

/** The reaction that the state of a message comes from. */
export function leading(reactions: readonly Reacted[]): Reaction | undefined {
  return RANKS.find((rank) => reactions.some(({ reaction }) => reaction === rank));
}

export function hasReacted(message: Message, reaction: Reaction, name: string | undefined): boolean {
  return message.reactions.some((one) => one.reaction === reaction && one.from.name === name);
}

/** The message as it is with somebody's reaction, or without it. */
export function withReaction(message: Message, reaction: Reaction, from: Author, isWanted: boolean, at: string): Message {
  if (hasReacted(message, reaction, from.name) === isWanted) return message;
  const reactions = isWanted
    ? [...message.reactions, { reaction, from, metadata: {}, created_at: at }]
    : message.reactions.filter((one) => one.reaction !== reaction || one.from.name !== from.name);
  const first = leading(reactions);
  // Without reactions, what nobody proposed is talk.
  const workflow_state = first ? REACTIONS[first].state : kindOf(message) ? "proposed" : null;
  if (!isWanted || !message.lapsed_approvals) return { ...message, reactions, workflow_state };
  // Who decides again has seen the text as it is now.
  const isDecision = reaction === "approve" || reaction === "reject" || reaction === "published";
  const lapsed_approvals = message.lapsed_approvals.filter((name) => !isDecision || name !== from.name);
  return { ...message, reactions, workflow_state, lapsed_approvals };
}

/** Who has reacted like this: oneself first, then the others in their order. */
export function whoReacted(message: Message, reaction: Reaction, me: string | undefined, nameOf = ({ name }: Author) => `@${name}`): string[] {
  const names = message.reactions.filter((one) => one.reaction === reaction).map(({ from }) => from);
  const others = names.filter(({ name }) => name !== me).map((from) => (from.kind === "system" ? "the hub" : nameOf(from)));
  return names.length > others.length ? ["you", ...others] : others;
}

/** Some names as one would say them; of many, the first ones and how many more. */
export function listed(names: readonly string[], most = 2): string {
  if (names.length > most + 1) return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
}

/** Who brought a message into its state, and for work that somebody has claimed, how long ago. For what is proposed, its kind. */
export function stateNote(message: Message, me: string | undefined, now: number): string | undefined {
  const reaction = leading(message.reactions);
  if (!reaction) return kindOf(message);
  const who = whoReacted(message, reaction, me);
  if (reaction !== "in_progress") return `by ${listed(who)}`;
  const since = message.reactions.find((one) => one.reaction === reaction)!.created_at;
  const passed = now - Date.parse(since);
  return `${listed(who)}, ${passed < 60_000 ? "just now" : duration(passed)}`;
}

/** Who said what else of finished work, beside what its state comes from. Who finished it claimed it, too, so that claim is left out. */
export function otherWords(message: Message, me: string | undefined): string {
  const first = leading(message.reactions);
  const rest = message.reactions.filter(({ reaction, from }) => reaction !== "in_progress" || first === undefined || !hasReacted(message, first, from.name));
  const said = REACTION_NAMES.filter((name) => name !== first && rest.some(({ reaction }) => reaction === name));
  return said.map((name) => `${REACTIONS[name].added.toLowerCase()} by ${listed(whoReacted({ ...message, reactions: rest }, name, me))}`).join(" · ");
}

/** Whether somebody should say yes or no: agents propose, and people decide. */
export function isUndecided(message: Message): boolean {
  return message.workflow_state === "proposed" && message.from.kind === "agent" && !message.deleted_at;
}

/** Whether nobody works on it yet, and somebody may. */
export function isUnclaimed(message: Message): boolean {
  const { workflow_state: state, deleted_at } = message;
  return !deleted_at && !isUndecided(message) && (state === "proposed" || state === "approved");
}

/** Why a message was rejected: what somebody who did so answered, as near as possible to when they did. */
export function reasonOf(message: Message, replies: readonly Message[]): Message | undefined {
  let reason: Message | undefined;
  let distance = Number.POSITIVE_INFINITY;
  // There may be thousands of replies, so each is looked at once.
  const rejected = new Map(message.reactions.flatMap(({ reaction, from, created_at }) => (reaction === "reject" ? [[from.name, Date.parse(created_at)]] : [])));
  for (const reply of replies) {
    const at = rejected.get(reply.from.name);
    if (at === undefined || reply.deleted_at) continue;
    const apart = Math.abs(Date.parse(reply.created_at) - at);
    if (apart < distance) [reason, distance] = [reply, apart];
  }
  return reason;
}

/** Where something was published, if whoever did it says so. */
export function publishedAt(message: Message): string | undefined {
  for (const { reaction, metadata } of message.reactions) {
    const url: unknown = (metadata as Record<string, unknown>)["url"];
    if (reaction === "published" && typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  }
  return undefined;
}

/** So many reactions of others fit into a menu. */
const MOST_REMOVABLE = 12;

/** The reactions of others that somebody may remove: the owner of the channel all of them, a member claims. */
export function removable(message: Message, me: string | undefined, seat: Seat | undefined): Reacted[] {
  if (me === undefined || !message.channel || message.deleted_at) return [];
  const may = (reaction: Reaction) => seat === "owner" || (seat === "member" && reaction === "in_progress");
  return message.reactions.filter(({ reaction, from }) => from.name !== me && may(reaction)).slice(0, MOST_REMOVABLE);
}

export function removalWords({ reaction, from }: Reacted, verb: "Remove" | "Removed"): string {
  return `${verb} ${from.kind === "system" ? "the hub" : `@${from.name}`}'s ${REACTIONS[reaction].noun}`;
}
