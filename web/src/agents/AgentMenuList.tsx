import * as Menu from "@radix-ui/react-dropdown-menu";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";

import type { Agent } from "../api/types";
import { MenuItem } from "../ui/MenuItem";

export interface AgentMenuProps {
  agent: Agent;
  onUnquarantine: () => void;
  onDelete: () => void;
}

/** How its button looks, which is there before the menu is. */
export interface AgentMenuButton {
  label: string;
  look: string;
}

/** The menu of an agent. It opens as it comes: it was loaded because somebody wants it. */
export default function AgentMenuList({ agent, onUnquarantine, onDelete, label, look }: AgentMenuProps & AgentMenuButton) {
  const navigate = useNavigate();
  const { name } = agent;
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger aria-label={label} className={look}>
        <Ellipsis size={16} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="end" className="z-40 min-w-48 rounded-md border border-line bg-bg p-1 shadow-lg">
          {agent.quarantined_at ? <MenuItem onSelect={onUnquarantine}>Lift the quarantine</MenuItem> : null}
          <MenuItem onSelect={() => void navigate({ to: "/agents/$name", params: { name }, search: { tab: "keys" } })}>Make a new key</MenuItem>
          <MenuItem isDanger onSelect={onDelete}>
            Delete
          </MenuItem>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
