import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { meQuery } from "../api/queries";
import { leave, onTabNews, tellTabs } from "../api/tabs";
import { person } from "../lib/person";
import { forget } from "../lib/storage";

/**
 * Tabs share a session: who logs in as somebody else in one tab acts as them in all. A tab that still shows the page of who was there
 * before begins anew, so that nobody writes under another name than the one they see. Who logs out in one tab leaves nothing in the others.
 */
export function useSamePerson(): void {
  const name = useQuery(meQuery).data?.user.username;
  useEffect(() => {
    if (name === undefined) return;
    if (name !== person.get()) return location.reload();
    const stop = onTabNews((news) => {
      if ("person" in news && news.person !== name) location.reload();
      if ("loggingOut" in news && news.loggingOut === name) forget(name)();
      if ("loggedOut" in news && news.loggedOut === name) {
        forget(name);
        leave();
      }
    });
    tellTabs({ person: name });
    return stop;
  }, [name]);
}
