import type { Message } from "../api/types";
import { textIn } from "../live/handlers";
import type { LiveEvent } from "../live/stream";

/**
 * Whether a new message is a reply to its parent. A mention puts a direct message into the inbox of the mentioned person or agent. That copy answers
 * the message in the channel, too, but nobody has replied.
 */
export function isReply(event: LiveEvent, parent: Pick<Message, "channel">): boolean {
  return !parent.channel || textIn(event, "channel") !== undefined;
}
