import * as Menu from "@radix-ui/react-dropdown-menu";
import { useNavigate } from "@tanstack/react-router";
import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";

import { logOut } from "../api/account";
import { sentenceOf } from "../api/problem";
import type { Me } from "../api/types";
import { Avatar } from "../ui/Avatar";
import { toast } from "../ui/Toasts";
import { shortcutHelp } from "./help";

function Item({ children, onSelect }: { children: ReactNode; onSelect: () => void }) {
  return (
    <Menu.Item
      onSelect={onSelect}
      className="flex h-7 cursor-pointer items-center rounded-sm px-2 outline-none data-highlighted:bg-selected pointer-coarse:h-11"
    >
      {children}
    </Menu.Item>
  );
}

/** Who is logged in, and what they can do about themself. */
export function UserMenu({ user }: { user: Me["user"] }) {
  const navigate = useNavigate();
  const leave = () => void logOut().catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="flex h-11 shrink-0 items-center gap-2 border-t border-line px-3 text-left hover:bg-selected">
        <Avatar name={user.username} kind="user" displayName={user.display_name} size="small" />
        <span className="min-w-0 flex-1 truncate font-medium">{user.display_name || user.username}</span>
        {user.role === "admin" ? <span className="text-muted">admin</span> : null}
        <ChevronsUpDown size={14} aria-hidden="true" className="text-muted" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content align="start" side="top" className="z-50 w-56 rounded-md border border-line bg-bg p-1 shadow-lg">
          <Item onSelect={() => void navigate({ to: "/settings/profile" })}>Settings</Item>
          <Item onSelect={() => void navigate({ to: "/settings/appearance" })}>Appearance</Item>
          <Item onSelect={() => shortcutHelp.set(true)}>Keyboard shortcuts</Item>
          <Menu.Separator className="my-1 h-px bg-line" />
          <Item onSelect={leave}>Log out</Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
