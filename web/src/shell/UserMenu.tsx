import { ChevronsUpDown } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { Me } from "../api/types";
import { Avatar } from "../ui/Avatar";

const UserMenuList = lazy(() => import("./UserMenuList"));

export const USER_BUTTON = "flex h-11 w-full shrink-0 items-center gap-2 border-t border-line px-3 text-left hover:bg-selected";

/** The person's name and picture, on the button of their menu. */
export function UserRow({ user }: { user: Me["user"] }) {
  return (
    <>
      <Avatar name={user.username} kind="user" displayName={user.display_name} size="small" />
      <span className="min-w-0 flex-1 truncate font-medium">{user.display_name || user.username}</span>
      {user.role === "admin" ? <span className="text-muted">admin</span> : null}
      <ChevronsUpDown size={14} aria-hidden="true" className="text-muted" />
    </>
  );
}

/** Who is logged in. The menu is loaded when they first want it. */
export function UserMenu({ user }: { user: Me["user"] }) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button type="button" aria-haspopup="menu" className={USER_BUTTON} onClick={() => setWanted(true)}>
      <UserRow user={user} />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <UserMenuList user={user} />
    </Suspense>
  ) : (
    button
  );
}
