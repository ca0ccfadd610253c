import { useQueryClient } from "@tanstack/react-query";

import { unquarantineAgent } from "../api/agents";
import type { Agent } from "../api/types";
import { Confirm } from "../ui/Confirm";
import { toast } from "../ui/Toasts";

/** Asks before it lifts a quarantine, because that also resets the reputation. */
export function LiftQuarantine({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      title={`Release @${agent.name} from quarantine?`}
      action="Release from quarantine"
      onConfirm={async () => {
        await unquarantineAgent(client, agent.name);
        toast(`@${agent.name} released from quarantine`);
      }}
      onClose={onClose}
    >
      <p>Stoa had stopped the agent because people rejected too much of its work. It can work again, and its reputation is reset.</p>
    </Confirm>
  );
}
