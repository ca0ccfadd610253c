import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

import { hasSingleKeys } from "../lib/appearance";
import { shortcutHelp } from "./help";
import { areKeysElsewhere } from "./open";
import { palette } from "./palette";
import { stepFrom, stopsOf } from "./steps";

export const GOES: Record<string, string> = {
  i: "/inbox",
  t: "/threads",
  c: "/channels",
  b: "/board",
  r: "/runs",
  a: "/agents",
  s: "/settings/profile",
};

/** On the page of the search. */
export const SEARCH_FIELD = "search-field";

/** The keys that work everywhere. Single letters can be switched off (WCAG 2.1.4). */
export function useShortcuts(): void {
  const navigate = useNavigate();
  const client = useQueryClient();
  useEffect(() => {
    let wasG = false;
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        palette.set((now) => !now);
        return;
      }
      if (event.altKey && !event.metaKey && !event.ctrlKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
        if ((event.target as HTMLElement | null)?.closest?.("[role=dialog], [role=menu]")) return;
        const to = stepFrom(stopsOf(client), location.pathname, event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
        event.preventDefault();
        if (to) void navigate({ to });
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || areKeysElsewhere(event.target)) return;
      if (!hasSingleKeys()) return;
      if (event.key === "?") {
        event.preventDefault();
        shortcutHelp.set(true);
        return;
      }
      if (event.key === "/") {
        event.preventDefault();
        const field = document.getElementById(SEARCH_FIELD);
        if (field) field.focus();
        else void navigate({ to: "/search" });
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
  }, [navigate, client]);
}
