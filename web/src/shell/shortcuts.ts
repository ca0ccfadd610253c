import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

import { hasSingleKeys } from "../lib/appearance";
import { shortcutHelp } from "./help";
import { palette } from "./palette";

export const GOES: Record<string, string> = {
  i: "/inbox",
  t: "/threads",
  c: "/channels",
  b: "/board",
  a: "/agents",
  s: "/settings/profile",
};

/** Whether keys are for writing just now. */
function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return Boolean(element?.closest?.("input, textarea, select, [contenteditable], [role=dialog], [role=menu]"));
}

/** The keys that work everywhere. Single letters can be switched off (WCAG 2.1.4). */
export function useShortcuts(): void {
  const navigate = useNavigate();
  useEffect(() => {
    let wasG = false;
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        palette.set((now) => !now);
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (!hasSingleKeys()) return;
      if (event.key === "?") {
        event.preventDefault();
        shortcutHelp.set(true);
        return;
      }
      const goal = wasG ? GOES[event.key] : undefined;
      wasG = event.key === "g";
      if (goal) {
        event.preventDefault();
        void navigate({ to: goal });
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate]);
}
