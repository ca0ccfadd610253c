import type { Me, Message, Place } from "../api/types";

/** Where a message is, as the person sees it: what an agent of theirs says to somebody else is seen as that agent. */
export function placeOf(message: Pick<Message, "channel" | "from" | "to">, me: Me | undefined): Place {
  if (message.channel) return { kind: "channel", name: message.channel };
  const [from, to] = [message.from.name, message.to ?? message.from.name];
  const self = me?.user.username;
  if (from === self) return { kind: "dm", name: to };
  if (to === self) return { kind: "dm", name: from };
  const isMine = (name: string) => me?.agents.some((agent) => agent.name === name) ?? false;
  return isMine(from) ? { kind: "dm", name: to, as: from } : { kind: "dm", name: from, as: isMine(to) ? to : undefined };
}

/** What a link needs to show a message, or a thread, where it is. */
export function linkTo(place: Place, search: { at?: number; thread?: number }) {
  return place.kind === "channel"
    ? ({ to: "/channels/$name", params: { name: place.name }, search } as const)
    : ({ to: "/dm/$name", params: { name: place.name }, search: { ...search, as: place.as } } as const);
}
