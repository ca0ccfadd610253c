import { useQuery } from "@tanstack/react-query";
import { Activity, Play, Send, SquareKanban } from "lucide-react";

import { meQuery, runningQuery } from "../api/queries";
import { SidebarRow } from "./SidebarRow";
import { SidebarSection } from "./SidebarSection";
import { UserMenu } from "./UserMenu";

/** The part of the sidebar that stays in sight, however many conversations there are. */
export function SidebarFoot() {
  const me = useQuery(meQuery).data;
  const running = useQuery(runningQuery).data;
  const note = running ? `${running} running` : undefined;
  return (
    <>
      <div className="shrink-0 border-t border-line px-2 py-1">
        <SidebarSection title="Work" summary={note}>
          <ul>
            <SidebarRow to="/board" icon={<SquareKanban size={16} />}>
              Board
            </SidebarRow>
            <SidebarRow to="/runs" icon={<Play size={16} />} note={note}>
              Runs
            </SidebarRow>
          </ul>
        </SidebarSection>
        <SidebarSection title="Operate">
          <ul>
            <SidebarRow to="/traces" icon={<Activity size={16} />}>
              Traces
            </SidebarRow>
            <SidebarRow to="/deliveries" icon={<Send size={16} />}>
              Deliveries
            </SidebarRow>
          </ul>
        </SidebarSection>
      </div>
      {me ? <UserMenu user={me.user} /> : null}
    </>
  );
}
