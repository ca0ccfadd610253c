import * as Menu from "@radix-ui/react-dropdown-menu";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { logOut } from "../api/account";
import { sentenceOf } from "../api/problem";
import type { Me } from "../api/types";
import { toast } from "../ui/Toasts";
import { USER_BUTTON, UserRow } from "./UserMenu";
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

/** What the person can do about themself. */
export default function UserMenuList({ user }: { user: Me["user"] }) {
  const navigate = useNavigate();
  const leave = () => void logOut().catch((error: unknown) => toast(sentenceOf(error), { isError: true }));
  return (
    <Menu.Root modal={false} defaultOpen>
      <Menu.Trigger className={USER_BUTTON}>
        <UserRow user={user} />
      </Menu.Trigger>
      {/* Where the button is, and not at the end of the page: so it belongs to the navigation. */}
      <Menu.Content align="start" side="top" className="z-50 w-56 rounded-md border border-line bg-bg p-1 shadow-lg">
        <Item onSelect={() => void navigate({ to: "/settings/profile" })}>Settings</Item>
        <Item onSelect={() => void navigate({ to: "/settings/appearance" })}>Appearance</Item>
        <Item onSelect={() => void navigate({ to: "/attachments" })}>Attachments</Item>
        <Item onSelect={() => void navigate({ to: "/automation" })}>Stop all my agents</Item>
        <Item onSelect={() => shortcutHelp.set(true)}>Keyboard shortcuts</Item>
        {user.role === "admin" ? <Item onSelect={() => void navigate({ to: "/admin" })}>Admin</Item> : null}
        <Menu.Separator className="my-1 h-px bg-line" />
        <Item onSelect={leave}>Log out</Item>
      </Menu.Content>
    </Menu.Root>
  );
}
