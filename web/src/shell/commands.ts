import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useMemo } from "react";

import { logOut } from "../api/account";
import { sentenceOf } from "../api/problem";
import { type Conversation, conversationQuery, unreadQuery } from "../api/queries";
import { setStar, starredQuery } from "../api/stars";
import type { Place } from "../api/types";
import { markRead } from "../api/workflow";
import { chooseAppearance } from "../lib/appearance";
import { toast } from "../ui/Toasts";
import { shortcutHelp } from "./help";
import { making } from "./making";

interface Command {
  label: string;
  /** The key that does the same. */
  hint?: string;
  run: () => void;
}

const orSay = (work: Promise<unknown>) => void work.catch((error: unknown) => toast(sentenceOf(error), { isError: true }));

/** The conversation at an address. What an agent reads is not read by the person. */
export function conversationAt(path: string, as: unknown): Place | null {
  const [, kind, name] = /^\/(channels|dm)\/([A-Za-z0-9_-]+)\/?$/.exec(path) ?? [];
  if (!kind || !name || as) return null;
  return kind === "dm" ? { kind, name } : { kind: "channel", name };
}

async function markAllRead(client: QueryClient, place: Place): Promise<void> {
  const { queryKey } = conversationQuery(place);
  const before = client.getQueryData(unreadQuery.queryKey)?.find(({ kind, name }) => kind === place.kind && name === place.name);
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["unread"] });
    void client.invalidateQueries({ queryKey: ["partners"] });
  };
  await markRead(place);
  client.setQueryData<Conversation>(queryKey, (now) => (now ? { ...now, lastRead: now.items.at(-1)?.id ?? now.lastRead } : now));
  refresh();
  const undo = () => orSay(markRead(place, before?.last_read_message_id ?? 0).then(refresh));
  toast(`${place.kind === "channel" ? "#" : "@"}${place.name} marked as read`, before?.unread_count ? { undo } : {});
}

function toggleStar(client: QueryClient, place: Place): Promise<void> {
  const id = `${place.kind}:${place.name}` as const;
  return setStar(client, id, !client.getQueryData(starredQuery.queryKey)?.has(id));
}

/** What the palette can do beside going somewhere. */
export function useCommands(): Command[] {
  const client = useQueryClient();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const as = useRouterState({ select: ({ location }) => (location.search as { as?: string }).as });
  return useMemo(() => {
    const place = conversationAt(path, as);
    const other = document.documentElement.classList.contains("dark") ? "light" : "dark";
    return [
      ...(place
        ? [
            { label: "Mark conversation as read", run: () => orSay(markAllRead(client, place)) },
            { label: "Star conversation, or remove its star", run: () => orSay(toggleStar(client, place)) },
          ]
        : []),
      { label: "New channel", run: () => making.set("channel") },
      { label: "New agent", run: () => making.set("agent") },
      { label: `Switch to ${other} theme`, run: () => chooseAppearance({ theme: other }) },
      { label: "Keyboard shortcuts", hint: "?", run: () => shortcutHelp.set(true) },
      { label: "Log out", run: () => orSay(logOut()) },
    ];
  }, [client, path, as]);
}
