import type { Channel, Me, Message, Reaction } from "../api/types";

/** What a person is in a channel. An administrator may do there what its owner may. */
export type Seat = "owner" | "member" | "guest";

/** What the person is in the channel of a message; undefined as long as the page does not know it, and in direct messages. */
export function seatIn(channels: readonly Channel[] | undefined, me: Me | undefined, message: Pick<Message, "channel">): Seat | undefined {
  const channel = channels?.find(({ name }) => name === message.channel);
  if (!channel || !me) return undefined;
  if (channel.owner === me.user.username || me.user.role === "admin") return "owner";
  return channel.is_member ? "member" : "guest";
}

/** Why somebody cannot finish work with a reaction: somebody else has claimed it. Undefined if they can, as far as the page knows. */
export function finishFault(message: Message, reaction: Reaction, me: string | undefined, seat: Seat | undefined): string | undefined {
  if (seat !== "guest" || (reaction !== "done" && reaction !== "published")) return undefined;
  const holder = message.reactions.find((one) => one.reaction === "in_progress")?.from.name;
  if (holder === undefined || holder === me) return undefined;
  return `@${holder} claimed this. Only they or a member of #${message.channel} can mark it ${reaction}.`;
}
