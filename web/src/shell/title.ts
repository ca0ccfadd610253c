import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { unreadQuery } from "../api/queries";
import { useStore } from "../lib/store";
import { pageTitle } from "../ui/title";

const MOST = 99;

/** What a tab is called: how much is new, where one is, and what program it is. */
export function tabTitle(page: string, unread: number): string {
  const name = page ? `${page.replace(/^# /, "#")} – Stoa` : "Stoa";
  if (unread === 0) return name;
  return `(${unread > MOST ? `${MOST}+` : unread}) ${name}`;
}

/** Keeps the title of the tab up to date, so that one sees from elsewhere that something is new. */
export function useTitle(): void {
  const page = useStore(pageTitle);
  const unread = useQuery(unreadQuery).data?.reduce((sum, one) => sum + one.unread_count, 0) ?? 0;
  useEffect(() => {
    document.title = tabTitle(page, unread);
  }, [page, unread]);
}
