import type { components } from "./schema";

type Schemas = components["schemas"];

export type Agent = Schemas["AgentView"];
export type Attachment = Schemas["AttachmentView"];
export type Author = Schemas["Author"];
export type Channel = Schemas["ChannelView"];
export type ChannelDetails = Schemas["ChannelDetails"];
export type Me = Schemas["MeView"];
export type Member = Schemas["MemberView"];
export type Message = Schemas["MessageView"];
export type Partner = Schemas["PartnerView"];
export type PrincipalKind = Schemas["PrincipalKind"];
export type Reaction = Schemas["Reaction"];
export type Reacted = Schemas["ReactionView"];
/** What is left out has a default. */
export type SendMessage = Partial<Schemas["SendMessageRequest"]> & { body: string };
export type Unread = Schemas["UnreadView"];
export type WorkflowState = Schemas["WorkflowState"];

/** Where messages are: a channel, or what two say to each other, seen by one of them. */
export type Place = { kind: "channel"; name: string } | { kind: "dm"; name: string; as?: string };

export function placeKey(place: Place): string {
  return place.kind === "channel" ? `channel:${place.name}` : `dm:${place.as ?? ""}:${place.name}`;
}
