import * as Menu from "@radix-ui/react-dropdown-menu";
import { Ellipsis } from "lucide-react";

import type { MenuAction } from "./MenuButton";
import { MenuItem } from "./MenuItem";

/**
 * A menu with its button, which `MenuButton` draws before the menu is loaded. It opens at once, because a click has loaded it, and above
 * the card that its button may be in.
 */
export default function MenuList({ label, look, actions }: { label: string; look: string; actions: readonly MenuAction[] }) {
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger aria-label={label} className={look}>
        <Ellipsis size={16} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="end" className="z-50 min-w-48 rounded-md border border-line bg-bg p-1 shadow-lg">
          {actions.map((action) => (
            <MenuItem key={action.label} isDanger={action.isDanger} onSelect={action.onSelect}>
              {action.label}
            </MenuItem>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
