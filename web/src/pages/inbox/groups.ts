import type { Channel, Me, Message, Unread } from "../../api/types";
import { type Standing, standingOf } from "../../workflow/ages";
import { claimantOf } from "../../workflow/moves";

/** Something that waits for the person. */
export interface Item {
  message: Message;
  channel: Channel | undefined;
  standing: Standing;
}

export interface Groups {
  mentions: Item[];
  approvals: Item[];
  claimed: Item[];
  stale: Item[];
  unread: Unread[];
}

export interface Waiting {
  me: Me;
  channels: readonly Channel[];
  /** Messages that call anybody. */
  mentions: readonly Message[];
  /** What is claimed, anywhere. */
  claims: readonly Message[];
  /** What is proposed or approved, in the person's workflow channels. */
  open: readonly Message[];
  unread: readonly Unread[];
  now: number;
}

/** The channels whose work is the person's business. */
export function ownWorkflows(channels: readonly Channel[]): string[] {
  return channels.filter((channel) => channel.workflow_enabled && channel.is_member).map((channel) => channel.name);
}

/** The channels in which there is something that the person has not read, also where it does not count as unread. */
export function withNews(unread: readonly Unread[]): string[] {
  return unread
    .filter((one) => one.kind === "channel" && (one.last_message_id ?? 0) > (one.last_read_message_id ?? 0))
    .map((one) => one.name)
    .sort();
}

/** What waits for the person, by what is asked of them. Each thing is asked once. */
export function groupsOf({ me, channels, mentions, claims, open, unread, now }: Waiting): Groups {
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  const lastRead = new Map(unread.filter((one) => one.kind === "channel").map((one) => [one.name, one.last_read_message_id ?? 0]));
  const own = new Set([me.user.username, ...me.agents.map((agent) => agent.name)]);
  const itemOf = (message: Message): Item => {
    const channel = byName.get(message.channel ?? "");
    return { message, channel, standing: standingOf(message, channel, now) };
  };
  const isMine = (channel: Channel | undefined) => channel?.workflow_enabled === true && channel.is_member;
  const calls = (message: Message) => message.mentions.some((name) => name === me.user.username || name === "channel" || name === "here");
  // A list may be older than what was just done to what is in it.
  const claimed = [...claims, ...open].filter((message) => message.workflow_state === "in_progress").map(itemOf);
  const unclaimed = [...claims, ...open].filter((message) => message.workflow_state !== "in_progress").map(itemOf);
  const isApproval = ({ message, channel }: Item) =>
    message.workflow_state === "proposed" && message.from.kind === "agent" && message.status !== "done" && isMine(channel);
  const isOwn = ({ message }: Item) => own.has(claimantOf(message)?.name ?? "");
  const oldest = (one: Item, other: Item) => other.standing.ageMs - one.standing.ageMs;
  const work = {
    approvals: unclaimed.filter(isApproval).sort(oldest),
    claimed: claimed.filter(isOwn).sort(oldest),
    stale: [...claimed.filter((item) => !isOwn(item)), ...unclaimed.filter((item) => !isApproval(item))]
      .filter((item) => item.standing.isStale && isMine(item.channel))
      .sort(oldest),
  };
  // Work that also mentions the person is listed as work: there they can settle it.
  // Once they have, they have read it, so it does not come back as a mention.
  const hasDecided = (message: Message) => message.reactions.some(({ from }) => from.name === me.user.username);
  const listed = new Set(Object.values(work).flatMap((items) => items.map(({ message }) => message.id)));
  return {
    ...work,
    mentions: mentions
      .filter((message) => calls(message) && message.from.name !== me.user.username && !message.deleted_at)
      .filter((message) => message.id > (lastRead.get(message.channel ?? "") ?? 0) && !listed.has(message.id) && !hasDecided(message))
      .map(itemOf),
    unread: unread.filter((one) => one.unread_count > 0),
  };
}

/** How many things wait until the person settles them. This is the number at the inbox on every page. */
export function waitingIn(groups: Groups): number {
  // What an agent works on needs nobody, until it is stale.
  const held = groups.claimed.filter(({ message, standing }) => claimantOf(message)?.kind !== "agent" || standing.isStale);
  return groups.approvals.length + held.length + groups.stale.length;
}

/** How many things the inbox lists, without messages that are only unread. */
export function countOf(groups: Groups): number {
  return groups.mentions.length + groups.approvals.length + groups.claimed.length + groups.stale.length;
}
