import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Activity,
  Bot,
  Hash,
  Inbox,
  Landmark,
  Lock,
  MessagesSquare,
  Paperclip,
  Play,
  Plus,
  Search,
  Send,
  ShieldCheck,
  SquareKanban,
} from "lucide-react";
import { useMemo } from "react";

import { channelsQuery, meQuery, partnersQuery, runningQuery, threadsQuery, unreadQuery } from "../api/queries";
import { isMac } from "../lib/platform";
import { Avatar } from "../ui/Avatar";
import { IconButton } from "../ui/Button";
import { VirtualList } from "../ui/VirtualList";
import { SidebarGroup } from "./SidebarGroup";
import { SidebarLink, SidebarRow } from "./SidebarRow";
import { UserMenu } from "./UserMenu";
import { making } from "./making";
import { palette } from "./palette";
import { MOST_PARTNERS } from "./steps";
import { unreadIn } from "./title";

/** The same each time, so that nothing is made again while nothing is loaded. */
const NONE: never[] = [];

/** Links to every page, with what is new there. */
export function Sidebar() {
  const me = useQuery(meQuery).data;
  const channels = useQuery(channelsQuery).data ?? NONE;
  const partners = useQuery(partnersQuery).data ?? [];
  const threads = useQuery(threadsQuery).data?.items ?? [];
  const unread = useQuery(unreadQuery).data ?? NONE;
  const unreadOf = useMemo(() => new Map(unread.filter(({ kind }) => kind === "channel").map((one) => [one.name, one.unread_count])), [unread]);
  const running = useQuery(runningQuery).data;
  const allUnread = unreadIn(unread);
  const mine = useMemo(() => channels.filter((channel) => channel.is_member), [channels]);
  return (
    <nav aria-label="Main" className="flex h-full w-60 flex-col border-r border-line bg-panel">
      <div className="flex h-12 shrink-0 items-center gap-2 px-3 font-semibold">
        <Landmark size={18} aria-hidden="true" />
        <span className="flex-1">Stoa</span>
      </div>
      <div className="px-2 pb-1">
        <button
          type="button"
          onClick={() => palette.set(true)}
          className="flex h-7 w-full items-center gap-2 rounded-md border border-line bg-bg px-2 text-muted pointer-coarse:h-11"
        >
          <Search size={14} aria-hidden="true" />
          <span className="min-w-0 flex-1 truncate text-left">Search or jump to</span>
          <kbd className="rounded-sm border border-line px-1 text-xs whitespace-nowrap">{isMac ? "⌘K" : "Ctrl K"}</kbd>
        </button>
      </div>
      <div data-scroller className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        <ul>
          <SidebarRow to="/inbox" icon={<Inbox size={16} />} count={allUnread} isBold={allUnread > 0}>
            Inbox
          </SidebarRow>
          <SidebarRow to="/threads" icon={<MessagesSquare size={16} />} count={threads.length} isBold={threads.length > 0}>
            Threads
          </SidebarRow>
          <SidebarRow to="/search" icon={<Search size={16} />}>
            Search
          </SidebarRow>
        </ul>
        <SidebarGroup
          title="Channels"
          isList={false}
          heading={
            <Link to="/channels" activeOptions={{ exact: true }} title="All channels" className="flex h-7 items-center hover:text-fg hover:underline aria-[current=page]:text-fg pointer-coarse:h-11">
              Channels
            </Link>
          }
          action={
            <IconButton label="New channel" className="-mr-1.5 hover:bg-selected" onClick={() => making.set("channel")}>
              <Plus size={14} aria-hidden="true" />
            </IconButton>
          }
        >
          <VirtualList rows={mine} keyOf={({ id }) => id} size={28} className="flex flex-col">
            {(channel) => {
              const count = unreadOf.get(channel.name) ?? 0;
              const icon = channel.public ? <Hash size={15} /> : <Lock size={14} />;
              return (
                <SidebarLink to="/channels/$name" params={{ name: channel.name }} icon={icon} count={count} isBold={count > 0}>
                  {channel.name}
                </SidebarLink>
              );
            }}
          </VirtualList>
        </SidebarGroup>
        {partners.length > 0 ? (
          <SidebarGroup title="Direct messages">
            {partners.slice(0, MOST_PARTNERS).map((partner) => (
              <SidebarRow
                key={partner.name}
                to="/dm/$name"
                params={{ name: partner.name }}
                icon={<Avatar name={partner.name} kind={partner.kind} displayName={partner.display_name} size="small" />}
                count={partner.unread_count}
                isBold={partner.unread_count > 0}
              >
                {partner.name}
              </SidebarRow>
            ))}
          </SidebarGroup>
        ) : null}
        <SidebarGroup title="Work">
          <SidebarRow to="/board" icon={<SquareKanban size={16} />}>
            Board
          </SidebarRow>
          <SidebarRow to="/runs" icon={<Play size={16} />} note={running ? `${running} running` : undefined}>
            Runs
          </SidebarRow>
          <SidebarRow to="/agents" icon={<Bot size={16} />}>
            Agents
          </SidebarRow>
          <SidebarRow to="/attachments" icon={<Paperclip size={16} />}>
            Attachments
          </SidebarRow>
        </SidebarGroup>
        <SidebarGroup title="Operate">
          <SidebarRow to="/traces" icon={<Activity size={16} />}>
            Traces
          </SidebarRow>
          <SidebarRow to="/deliveries" icon={<Send size={16} />}>
            Deliveries
          </SidebarRow>
          {me?.user.role === "admin" ? (
            <SidebarRow to="/admin" icon={<ShieldCheck size={16} />}>
              Admin
            </SidebarRow>
          ) : null}
        </SidebarGroup>
      </div>
      {me ? <UserMenu user={me.user} /> : null}
    </nav>
  );
}
