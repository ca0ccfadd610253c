import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { unreadQuery } from "../api/queries";
import type { Unread } from "../api/types";
import { useStore } from "../lib/store";
import { pageTitle } from "../ui/title";

const MOST = 99;

/** What a tab is called: how much is new, where one is, and what program it is. */
export function tabTitle(page: string, unread: number): string {
  const name = page ? `${page.replace(/^# /, "#")} – Stoa` : "Stoa";
  if (unread === 0) return name;
  return `(${unread > MOST ? `${MOST}+` : unread}) ${name}`;
}

/** How much is unread in all conversations together. */
export function unreadIn(conversations: ReadonlyArray<Pick<Unread, "unread_count">> = []): number {
  return conversations.reduce((sum, one) => sum + one.unread_count, 0);
}

/** Keeps the title of the tab up to date, so that one sees from elsewhere that something is new. */
export function useTitle(): void {
  const page = useStore(pageTitle);
  const unread = unreadIn(useQuery(unreadQuery).data);
  useEffect(() => {
    document.title = tabTitle(page, unread);
  }, [page, unread]);
}
