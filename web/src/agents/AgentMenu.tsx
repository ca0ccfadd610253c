import { useNavigate } from "@tanstack/react-router";

import type { Agent } from "../api/types";
import { MenuButton } from "../ui/MenuButton";

interface AgentMenuProps {
  agent: Agent;
  onUnquarantine: () => void;
  onDelete: () => void;
}

/** The menu of an agent. */
export function AgentMenu({ agent, onUnquarantine, onDelete }: AgentMenuProps) {
  const navigate = useNavigate();
  const { name } = agent;
  return (
    <MenuButton
      label={`More actions for @${name}`}
      actions={[
        ...(agent.quarantined_at ? [{ label: "Release from quarantine", onSelect: onUnquarantine }] : []),
        { label: "Create key", onSelect: () => void navigate({ to: "/agents/$name", params: { name }, search: { tab: "keys" } }) },
        { label: "Delete", onSelect: onDelete, isDanger: true },
      ]}
    />
  );
}
