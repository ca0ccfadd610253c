import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { api, ok } from "../api/client";
import type { Conversation } from "../api/queries";
import { type Place, placeKey } from "../api/types";
import { store, useStore } from "../lib/store";

/** A message that was visible this long counts as read. */
const READ_AFTER_MS = 1000;

/** The conversation that the person has marked unread. It stays so until they leave it. */
export const keptUnread = store<string | null>(null);

interface Reading {
  place: Place;
  dataKey: QueryKey;
  /** The last message in sight. */
  last: number | null;
  /** The message up to which the person has read. */
  lastRead: number | null;
}

/** Marks the conversation as read up to a message that was visible for a while, in a window that has the focus. */
export function useMarkRead({ place, dataKey, last, lastRead }: Reading): void {
  const client = useQueryClient();
  const key = placeKey(place);
  const isKept = useStore(keptUnread) === key;
  useEffect(() => () => keptUnread.set((now) => (now === key ? null : now)), [key]);
  useEffect(() => {
    if (isKept || last === null || (place.kind === "dm" && place.as)) return;
    if (lastRead !== null && lastRead !== undefined && lastRead >= last) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      if (document.visibilityState !== "visible" || !document.hasFocus()) return;
      timer = setTimeout(() => {
        const body = place.kind === "channel" ? { channel: place.name, message_id: last } : { dm: place.name, message_id: last };
        void ok(api.POST("/api/notifications/mark-read", { body })).then(
          () => {
            for (const key of [dataKey, dataKey.slice(0, 2)]) {
              client.setQueryData<Conversation>(key, (now) => (now ? { ...now, lastRead: last } : now));
            }
            void client.invalidateQueries({ queryKey: ["unread"] });
          },
          () => undefined,
        );
      }, READ_AFTER_MS);
    };
    watch();
    window.addEventListener("focus", watch);
    document.addEventListener("visibilitychange", watch);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", watch);
      document.removeEventListener("visibilitychange", watch);
    };
  }, [isKept, last, lastRead, client, dataKey, place]);
}
