import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { store } from "../lib/store";
import { catchUp, patch } from "../live/patch";
import { type Link, openLive } from "../live/stream";

/** How the page is connected to the hub. */
export const link = store<Link>("connecting");

/** Keeps all that is shown up to date, as long as the page is open. */
export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => {
    let wasOffline = false;
    let isFirst = true;
    const live = openLive(
      (event) => patch(client, event),
      (next) => {
        link.set(next);
        if (next === "offline" && !wasOffline) {
          wasOffline = true;
          // Whether it is the hub or only the session that has ended, a plain request finds out. It comes in the middle of a new
          // password, too, so a refusal is looked into before anybody is led to the login.
          void client.invalidateQueries({ queryKey: ["me"] });
        }
        if (next === "live" && wasOffline) {
          wasOffline = false;
          // What could not be loaded meanwhile says that it is tried again.
          void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
        }
        if (next === "live" && isFirst) {
          isFirst = false;
          catchUp(client);
        }
      },
    );
    return () => live.close();
  }, [client]);
}
