import { useQuery } from "@tanstack/react-query";
import { Menu } from "lucide-react";
import type { Ref } from "react";

import { unreadQuery } from "../api/queries";
import { useStore } from "../lib/store";
import { IconButton } from "../ui/Button";
import { unreadIn } from "./title";
import { waiting } from "./waiting";

const MOST = 99;

interface DrawerButtonProps {
  ref: Ref<HTMLButtonElement>;
  isOpen: boolean;
  onOpen: () => void;
}

/** Opens the sidebar on a phone. Like the title of a tab it says how much waits, or by a dot that something is only unread. */
export function DrawerButton({ ref, isOpen, onOpen }: DrawerButtonProps) {
  const waits = useStore(waiting);
  const hasUnread = unreadIn(useQuery(unreadQuery).data) > 0;
  const words = waits > 0 ? `, ${waits} waiting` : hasUnread ? ", unread messages" : "";
  return (
    <IconButton ref={ref} label={`Menu${words}`} aria-expanded={isOpen} className="fixed top-2.5 left-2 z-20 md:hidden pointer-coarse:top-0.5" onClick={onOpen}>
      <span className="relative">
        <Menu size={18} aria-hidden="true" />
        {waits > 0 ? (
          <span aria-hidden="true" className="absolute -top-2.5 left-2.5 min-w-4.5 rounded-full bg-accent px-1 text-center text-xs leading-4.5 font-semibold text-on-accent tabular-nums">
            {waits > MOST ? `${MOST}+` : waits}
          </span>
        ) : hasUnread ? (
          <span aria-hidden="true" className="absolute -top-1 -right-1 size-2 rounded-full bg-accent" />
        ) : null}
      </span>
    </IconButton>
  );
}
