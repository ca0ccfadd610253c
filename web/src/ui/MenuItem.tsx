import * as Menu from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

/** A line of a menu. */
export function MenuItem({ children, onSelect, isDanger }: { children: ReactNode; onSelect: () => void; isDanger?: boolean }) {
  return (
    <Menu.Item
      onSelect={onSelect}
      className={`flex h-7 cursor-pointer items-center rounded-sm px-2 outline-none data-highlighted:bg-selected pointer-coarse:h-11 ${isDanger ? "text-rejected" : ""}`}
    >
      {children}
    </Menu.Item>
  );
}
