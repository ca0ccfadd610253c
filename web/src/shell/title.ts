import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { unreadQuery } from "../api/queries";
import type { Unread } from "../api/types";
import { useStore } from "../lib/store";
import { pageTitle } from "../ui/title";
import { waiting } from "./waiting";

const MOST = 99;

/** The title of a tab: how much waits for the person, or a dot if something is only unread, then the page and the program. */
export function tabTitle(page: string, waits: number, hasUnread: boolean): string {
  const name = page ? `${page.replace(/^# /, "#")} – Stoa` : "Stoa";
  if (waits > 0) return `(${waits > MOST ? `${MOST}+` : waits}) ${name}`;
  return hasUnread ? `• ${name}` : name;
}

/** How much is unread in all conversations together. */
export function unreadIn(conversations: ReadonlyArray<Pick<Unread, "unread_count">> = []): number {
  return conversations.reduce((sum, one) => sum + one.unread_count, 0);
}

/** Keeps the title of the tab up to date, so that people see from other tabs that something is new. */
export function useTitle(): void {
  const page = useStore(pageTitle);
  const waits = useStore(waiting);
  const hasUnread = unreadIn(useQuery(unreadQuery).data) > 0;
  useEffect(() => {
    document.title = tabTitle(page, waits, hasUnread);
  }, [page, waits, hasUnread]);
}
