import { CircleCheck, CircleDashed, CirclePause, ShieldAlert } from "lucide-react";

import type { Agent } from "../api/types";
import { Badge } from "../ui/Badge";
import { standing } from "./statuses";
import { isUnconnected } from "./unconnected";

/** Whether the agent may work, always as picture and word. */
export function AgentStatus({ agent }: { agent: Agent }) {
  switch (standing(agent)) {
    case "quarantined":
      return (
        <Badge colour="bad" icon={<ShieldAlert size={12} />}>
          Quarantined
        </Badge>
      );
    case "paused":
      return (
        <Badge colour="warning" icon={<CirclePause size={12} />}>
          {agent.pause_reason === "budget" ? "Paused: budget used up" : "Paused"}
        </Badge>
      );
    case "active":
      if (isUnconnected(agent)) return <Badge icon={<CircleDashed size={12} />}>Not connected</Badge>;
      return (
        <Badge colour="good" icon={<CircleCheck size={12} />}>
          Active
        </Badge>
      );
  }
}
