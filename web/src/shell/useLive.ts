import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { catchUp, handleEvent } from "../live/handlers";
import { link } from "../live/link";
import { openLive } from "../live/stream";
import { resendSoon } from "../messages/outbox";
import { streamHandlers } from "../streamHandlers";

/** Keeps everything on the page up to date while it is open. */
export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => {
    let wasOffline = false;
    let isFirst = true;
    const live = openLive(
      (event) => handleEvent(streamHandlers, client, event),
      (next) => {
        link.set(next);
        if (next === "offline" && !wasOffline) {
          wasOffline = true;
          // A plain request finds out whether the hub is away or only the session has ended. A new password breaks the stream too,
          // so a refusal is checked before the page goes to the login.
          void client.invalidateQueries({ queryKey: ["me"] });
        }
        if (next === "live" && wasOffline) {
          wasOffline = false;
          // Lists that failed to load promised a retry.
          void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
        }
        if (next === "live") resendSoon(client);
        if (next === "live" && isFirst) {
          isFirst = false;
          catchUp(streamHandlers, client);
        }
      },
    );
    return () => live.close();
  }, [client]);
}
