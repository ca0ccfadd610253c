import * as Menu from "@radix-ui/react-dropdown-menu";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";

import type { Agent } from "../api/types";

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
          {agent.quarantined_at ? <Item onSelect={onUnquarantine}>Lift the quarantine</Item> : null}
          <Item onSelect={() => void navigate({ to: "/agents/$name", params: { name }, search: { tab: "keys" } })}>Make a new key</Item>
          <Item isDanger onSelect={onDelete}>
            Delete
          </Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Item({ children, onSelect, isDanger }: { children: ReactNode; onSelect: () => void; isDanger?: boolean }) {
  return (
    <Menu.Item
      onSelect={onSelect}
      className={`flex h-7 cursor-pointer items-center rounded-sm px-2 outline-none data-highlighted:bg-selected pointer-coarse:h-11 ${isDanger ? "text-rejected" : ""}`}
    >
      {children}
    </Menu.Item>
  );
}
