import type { Channel, Message } from "../api/types";
import { isWork, kindOf } from "../messages/work";
import type { Seat } from "./seat";

/** Whether a message is talk in a channel where work is proposed. There, nobody decides on talk or claims it. */
export function isTalk(message: Message, channels: readonly Channel[] | undefined): boolean {
  return !isWork(message) && (channels?.find(({ name }) => name === message.channel)?.workflow_enabled ?? false);
}

/** Whether the person may say what kind of work a message is: its author may, and the owner of the channel. */
function maySetKind(message: Message, me: string | undefined, seat: Seat | undefined): boolean {
  return !message.deleted_at && (message.reply_to ?? null) === null && (message.from.name === me || seat === "owner");
}

export function mayBecomeWork(message: Message, channels: readonly Channel[] | undefined, me: string | undefined, seat: Seat | undefined): boolean {
  return isTalk(message, channels) && maySetKind(message, me, seat);
}

/** Work to which somebody has reacted stays work. */
export function mayBecomeTalk(message: Message, me: string | undefined, seat: Seat | undefined): boolean {
  return Boolean(message.channel) && kindOf(message) !== undefined && message.reactions.length === 0 && maySetKind(message, me, seat);
}
