import type { Author, Message, WorkflowState } from "../api/types";
import type { Reaction, ReactionView } from "../api/workflow";
import { type Seat, finishFault } from "./seat";

/** From the lowest: where a message has several reactions, the highest decides. */
const RANKS: ReadonlyArray<{ reaction: Reaction; state: WorkflowState }> = [
  { reaction: "approve", state: "approved" },
  { reaction: "in_progress", state: "in_progress" },
  { reaction: "reject", state: "rejected" },
  { reaction: "done", state: "done" },
  { reaction: "published", state: "published" },
];

const rankOf = (reaction: Reaction) => RANKS.findIndex((one) => one.reaction === reaction);

export const TERMINAL: readonly WorkflowState[] = ["published", "done", "rejected"];

/** The state that follows from reactions to work. */
export function stateOf(reactions: ReadonlyArray<Pick<ReactionView, "reaction">>): WorkflowState {
  const highest = Math.max(-1, ...reactions.map(({ reaction }) => rankOf(reaction)));
  return RANKS[highest]?.state ?? "proposed";
}

/** Who works on a message. */
export function claimantOf(message: Message): Author | undefined {
  return message.reactions.find(({ reaction }) => reaction === "in_progress")?.from;
}

export function approversOf(message: Message): Author[] {
  return message.reactions.filter(({ reaction }) => reaction === "approve").map(({ from }) => from);
}

export interface Step {
  does: "add" | "remove";
  reaction: Reaction;
}

/** What brings a message into a state, or why somebody cannot bring it there. */
export type Move =
  | { isPossible: true; steps: Step[]; after: ReactionView[] }
  | { isPossible: false; reason: string };

const SAID: Record<Reaction, string> = {
  approve: "approved it",
  reject: "rejected it",
  in_progress: "claimed it",
  done: "marked it done",
  published: "published it",
};

/**
 * What somebody does to bring a message into a state. They can take back only what they said themselves; what others said that
 * counts less than the state may stay.
 */
export function moveTo(message: Message, target: WorkflowState, me: Author, seat?: Seat, at = new Date().toISOString()): Move {
  const goal = RANKS.findIndex((one) => one.state === target);
  const isMine = (reaction: ReactionView) => reaction.from.kind === me.kind && reaction.from.name === me.name;
  const above = message.reactions.filter(({ reaction }) => rankOf(reaction) > goal);
  const others = above.filter((reaction) => !isMine(reaction));
  const highest = others.reduce<ReactionView | undefined>(
    (most, one) => (most && rankOf(most.reaction) >= rankOf(one.reaction) ? most : one),
    undefined,
  );
  if (highest) {
    return { isPossible: false, reason: othersWords(highest, seat) };
  }
  const wanted = RANKS[goal]?.reaction;
  const isSaid = message.reactions.some(({ reaction }) => reaction === wanted);
  const fault = wanted && !isSaid ? finishFault(message, wanted, me.name, seat) : undefined;
  if (fault) return { isPossible: false, reason: fault };
  const steps: Step[] = [];
  // Adding comes first: it is what may be refused, and then nothing else has happened.
  if (wanted && !isSaid) steps.push({ does: "add", reaction: wanted });
  for (const { reaction } of above) steps.push({ does: "remove", reaction });
  return { isPossible: true, steps, after: applied(message.reactions, steps, me, at) };
}

/** What somebody else said stands in the way; and who can take it back. */
function othersWords({ reaction, from }: ReactionView, seat: Seat | undefined): string {
  const said = `${from.kind === "system" ? "The hub" : `@${from.name}`} ${SAID[reaction]}`;
  const isClaim = reaction === "in_progress";
  if (seat === "owner" || (seat === "member" && isClaim)) return `${said}. You can remove this in the message menu.`;
  return `${said}. Only they or ${isClaim ? "a channel member" : "the channel owner"} can undo this.`;
}

function applied(reactions: readonly ReactionView[], steps: readonly Step[], me: Author, at: string): ReactionView[] {
  let now = [...reactions];
  for (const { does, reaction } of steps) {
    if (does === "add") now.push({ reaction, from: me, metadata: {}, created_at: at });
    else now = now.filter((one) => one.reaction !== reaction || one.from.name !== me.name);
  }
  return now;
}

/** What takes a move back. */
export function backwards(steps: readonly Step[]): Step[] {
  return steps.map((step): Step => ({ ...step, does: step.does === "add" ? "remove" : "add" })).reverse();
}

const ADDED: Record<Reaction, string> = {
  approve: "approve",
  reject: "reject with a reason",
  in_progress: "claim for yourself",
  done: "mark done",
  published: "mark published",
};
const REMOVED: Record<Reaction, string> = {
  approve: "withdraw your approval",
  reject: "withdraw your rejection",
  in_progress: "release your claim",
  done: "undo “done”",
  published: "undo “published”",
};

/** A move in a few words, for the menu. */
export function moveWords(move: Move): string {
  if (!move.isPossible) return move.reason;
  const [first] = move.steps;
  if (!first) return "";
  return first.does === "add" ? ADDED[first.reaction] : REMOVED[first.reaction];
}
