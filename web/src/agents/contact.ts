import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type Trace, agentQuery, latestCallsQuery, presenceQuery } from "../api/agents";

/** The hub notes a use at most once in this time, so a second one within it leaves no other mark. */
const RECENT_MS = 75_000;
const LOOKS_EVERY_MS = 2000;

export interface Contact {
  /** Whether the agent has been heard of: since the person came here, or just before. */
  isConnected: boolean;
  seenAt: string | null;
  /** What it has done since then, oldest first. */
  calls: Trace[];
}

/** What is known of an agent at the moment that the person begins to wait for it. */
interface Start {
  lastSeenAt: string | null;
  lastCall: number;
}

export function contactOf(
  start: Start,
  now: { lastSeenAt: string | null; isOnline: boolean; calls: readonly Trace[]; at: number },
): Contact {
  const calls = now.calls.filter((call) => call.id > start.lastCall).sort((one, other) => one.id - other.id);
  const isRecent = now.lastSeenAt !== null && now.at - Date.parse(now.lastSeenAt) < RECENT_MS;
  const isConnected = now.isOnline || calls.length > 0 || now.lastSeenAt !== start.lastSeenAt || isRecent;
  return { isConnected, seenAt: calls.at(-1)?.created_at ?? now.lastSeenAt, calls };
}

/**
 * Waits for an agent. Its calls are not told by the stream, so it is looked for again and again. An agent that is `isNew` was
 * made for this, so all that it ever did counts.
 */
export function useContact(name: string, isNew: boolean): Contact {
  const agent = useQuery({ ...agentQuery(name), refetchInterval: LOOKS_EVERY_MS }).data?.agent;
  const traces = useQuery(latestCallsQuery(name)).data;
  const presence = useQuery(presenceQuery(name)).data;
  const [start, setStart] = useState<Start | null>(isNew ? { lastSeenAt: null, lastCall: 0 } : null);
  if (start === null && agent && traces) {
    setStart({ lastSeenAt: agent.last_seen_at ?? null, lastCall: traces.items[0]?.id ?? 0 });
  }
  const now = {
    lastSeenAt: agent?.last_seen_at ?? null,
    isOnline: presence?.isOnline ?? false,
    calls: traces?.items ?? [],
    at: Date.now(),
  };
  return start === null ? { isConnected: false, seenAt: now.lastSeenAt, calls: [] } : contactOf(start, now);
}
