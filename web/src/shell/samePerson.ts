import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { meQuery } from "../api/queries";
import { person } from "../lib/person";

/**
 * Tabs share a session: who logs in as somebody else in one tab acts as them in all. A tab that still shows the page of who was there
 * before begins anew, so that nobody writes under another name than the one they see.
 */
export function useSamePerson(): void {
  const name = useQuery(meQuery).data?.user.username;
  useEffect(() => {
    if (name === undefined) return;
    if (name !== person.get()) return location.reload();
    if (typeof BroadcastChannel === "undefined") return;
    const tabs = new BroadcastChannel("stoa.person");
    tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data !== name) location.reload();
    };
    tabs.postMessage(name);
    return () => tabs.close();
  }, [name]);
}
