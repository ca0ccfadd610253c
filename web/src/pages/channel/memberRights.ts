import type { ChannelDetails, Me, Member } from "../../api/types";

/** What the person may do with the members of a channel. */
export interface MemberRights {
  /** They own the channel or are an administrator, so they add and remove everybody. */
  isManager: boolean;
  /** Their own agents, which they add and remove anywhere. */
  own: string[];
  mayAdd: boolean;
  mayRemove: (member: Member) => boolean;
}

export function memberRights({ channel }: ChannelDetails, me: Me): MemberRights {
  const own = me.agents.map((agent) => agent.name);
  const isManager = channel.owner === me.user.username || me.user.role === "admin";
  return {
    isManager,
    own,
    mayAdd: isManager || own.length > 0,
    mayRemove: ({ name }) => name !== channel.owner && name !== me.user.username && (isManager || own.includes(name)),
  };
}
