import type { Message } from "../api/types";

/** The message that a notice is about. */
export interface About {
  message_id: number;
  channel: string | null;
}

/** A part of the metadata of a notice. Everybody can send such metadata; only the hub's count. */
function partOf<Part>({ from, metadata }: Message, name: string): Partial<Part> | undefined {
  const part = from.kind === "system" ? (metadata as Record<string, unknown>)[name] : undefined;
  return typeof part === "object" && part !== null ? (part as Partial<Part>) : undefined;
}

/** The agent whose webhook a notice of the hub is about. */
export function webhookAgentIn(notice: Message): string | undefined {
  const agent = partOf<{ agent: unknown }>(notice, "webhook")?.agent;
  return typeof agent === "string" ? agent : undefined;
}

/** The run that a notice of the hub is about. */
export function runIn(notice: Message): number | undefined {
  const id = partOf<{ id: unknown }>(notice, "run")?.id;
  return typeof id === "number" ? id : undefined;
}

/** What a notice of the hub says about an approval that an edit took back. */
export function lapsedIn(notice: Message): About | undefined {
  const told = partOf<About>(notice, "lapsed_approval");
  if (typeof told?.message_id !== "number") return undefined;
  return { message_id: told.message_id, channel: typeof told.channel === "string" ? told.channel : null };
}
