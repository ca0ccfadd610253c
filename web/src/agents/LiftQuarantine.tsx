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
      title={`Lift the quarantine of @${agent.name}?`}
      action="Lift the quarantine"
      onConfirm={async () => {
        await unquarantineAgent(client, agent.name);
        toast(`@${agent.name} is out of quarantine.`);
      }}
      onClose={onClose}
    >
      <p>It can work again, and its reputation starts afresh: what led to the quarantine no longer counts.</p>
    </Confirm>
  );
}
