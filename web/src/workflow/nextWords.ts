import type { Message } from "../api/types";

/** Who acts next on work that was approved. The hub sends no message about an approval, so an agent hears of it when somebody mentions it. */
export function nextWords({ workflow_state, channel, from, deleted_at }: Message): string | undefined {
  if (workflow_state !== "approved" || !channel || deleted_at) return undefined;
  const claim = "Anyone in the channel can claim it now.";
  return from.kind === "agent" ? `${claim} To tell @${from.name}, mention it in a reply.` : claim;
}
