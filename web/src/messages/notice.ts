import type { Message } from "../api/types";

/** The message that a notice is about. */
export interface About {
  message_id: number;
  channel: string | null;
}

/** What a notice of the hub says about an approval that an edit took back. Everybody can send such metadata; only the hub's count. */
export function lapsedIn({ from, metadata }: Message): About | undefined {
  const told = from.kind === "system" ? ((metadata as Record<string, unknown>)["lapsed_approval"] as Partial<About> | undefined) : undefined;
  if (typeof told !== "object" || told === null || typeof told.message_id !== "number") return undefined;
  return { message_id: told.message_id, channel: typeof told.channel === "string" ? told.channel : null };
}
