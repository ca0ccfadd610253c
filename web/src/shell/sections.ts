import type { StarId } from "../api/stars";
import type { Agent, Channel, Partner, PrincipalKind, Unread } from "../api/types";
import type { PresenceState } from "../ui/PresenceDot";

/** A conversation in the sidebar. */
export interface SidebarConversation {
  /** As the hub names it among the starred ones. */
  id: StarId;
  kind: "channel" | "dm";
  name: string;
  unread: number;
  /** Larger if it was written to later, within one section. */
  latest: number;
  /** Of a channel. */
  isPublic?: boolean;
  /** Of a direct message: who the other one is. */
  principal?: PrincipalKind;
  displayName?: string;
  /** Of an agent that the person owns. */
  agent?: Agent;
}

export interface Sections {
  starred: SidebarConversation[];
  channels: SidebarConversation[];
  people: SidebarConversation[];
  agents: SidebarConversation[];
}

export interface SidebarData {
  channels: readonly Channel[];
  partners: readonly Partner[];
  /** The person's own. */
  agents: readonly Agent[];
  unread: readonly Unread[];
  starred: ReadonlySet<string>;
}

const latestOf = (partner: Partner | undefined) => Date.parse(partner?.last_message_at ?? "") || 0;
const byName = (one: SidebarConversation, other: SidebarConversation) => one.name.localeCompare(other.name);
const unreadFirst = (rows: readonly SidebarConversation[]) => [...rows.filter(({ unread }) => unread > 0), ...rows.filter(({ unread }) => unread === 0)];

/** What the sidebar lists, each conversation once: what is starred, one's own agents, and the rest by its kind. Unread ones come first. */
export function sectionsOf({ channels, partners, agents, unread, starred }: SidebarData): Sections {
  const counts = new Map(unread.filter(({ kind }) => kind === "channel").map((one) => [one.name, one.unread_count]));
  const known = new Map(partners.map((partner) => [partner.name, partner]));
  const own = new Set(agents.map(({ name }) => name));
  const rooms = channels
    .filter((channel) => channel.is_member)
    .map((channel): SidebarConversation => {
      const { name } = channel;
      return { id: `channel:${name}`, kind: "channel", name, unread: counts.get(name) ?? 0, latest: channel.last_message_id ?? 0, isPublic: channel.public };
    })
    .sort(byName);
  const mine = agents
    .map((agent): SidebarConversation => {
      const { name, display_name } = agent;
      const partner = known.get(name);
      return { id: `dm:${name}`, kind: "dm", name, unread: partner?.unread_count ?? 0, latest: latestOf(partner), principal: "agent", displayName: display_name, agent };
    })
    .sort(byName);
  // The hub lists the latest first.
  const others = partners
    .filter(({ name }) => !own.has(name))
    .map((partner): SidebarConversation => {
      const { name, kind, display_name, unread_count } = partner;
      return { id: `dm:${name}`, kind: "dm", name, unread: unread_count, latest: latestOf(partner), principal: kind, displayName: display_name };
    });
  const isStarred = ({ id }: SidebarConversation) => starred.has(id);
  const rest = (rows: readonly SidebarConversation[]) => unreadFirst(rows.filter((row) => !isStarred(row)));
  return {
    starred: unreadFirst([...rooms, ...others, ...mine].filter(isStarred)),
    channels: rest(rooms),
    people: rest(others),
    agents: rest(mine),
  };
}

/** The address of a conversation. */
export const pathOf = ({ kind, name }: Pick<SidebarConversation, "kind" | "name">) => (kind === "channel" ? `/channels/${name}` : `/dm/${name}`);

/** What is known of somebody, together with what the person's own agents say about themselves. */
export function presenceOf({ agent }: Pick<SidebarConversation, "agent">, presence: PresenceState | undefined): PresenceState {
  if (agent?.quarantined_at) return "quarantined";
  if (agent?.paused_at) return "paused";
  return presence ?? "offline";
}

/** What a collapsed section says about its conversations. */
export function summaryOf(rows: readonly SidebarConversation[], presences: ReadonlyMap<string, PresenceState>): string {
  const unread = rows.filter((row) => row.unread > 0).length;
  const working = rows.filter((row) => row.kind === "dm" && presenceOf(row, presences.get(row.name)) === "working").length;
  return [working > 0 ? `${working} working` : "", unread > 0 ? `${unread} unread` : ""].filter(Boolean).join(", ");
}
