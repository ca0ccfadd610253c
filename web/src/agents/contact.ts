import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type Trace, agentQuery, latestCallsQuery, presenceQuery } from "../api/agents";

/** The hub notes a use at most once in this time, so a second one within it leaves no other mark. */
const RECENT_MS = 75_000;
const LOOKS_EVERY_MS = 2000;

export interface Contact {
  /** Whether the agent has ever been heard of. */
  isConnected: boolean;
  /** Whether that was since the person came here, or just before. */
  isFresh: boolean;
  seenAt: string | null;
  /** The latest that it did. */
  last: Trace | null;
  /** What it has done since the person came here, oldest first. */
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
  const known = [...now.calls].sort((one, other) => one.id - other.id);
  const calls = known.filter((call) => call.id > start.lastCall);
  const last = known.at(-1) ?? null;
  // The call is exact, the mark is noted once in a while.
  const isCallLater = last !== null && (now.lastSeenAt === null || Date.parse(last.created_at) > Date.parse(now.lastSeenAt));
  const seenAt = isCallLater ? last.created_at : now.lastSeenAt;
  const isRecent = seenAt !== null && now.at - Date.parse(seenAt) < RECENT_MS;
  const isFresh = now.isOnline || calls.length > 0 || now.lastSeenAt !== start.lastSeenAt || isRecent;
  return { isConnected: now.isOnline || seenAt !== null, isFresh, seenAt, last, calls };
}

/** By which way a call came in, as far as its trace tells. */
export function surfaceOf(call: Trace): string | null {
  const details = call.details as Record<string, unknown>;
  if (details["surface"] === "mcp") return "MCP";
  return typeof details["method"] === "string" ? "the HTTP API" : null;
}

/** Something that acts as the agent, and when it last did. */
export interface Use {
  label: string;
  at: string | null | undefined;
}

/** What the agent was last seen with: the one that was used about then, if there is one only. Its own key leaves no such mark. */
export function usedWith(seenAt: string, uses: readonly Use[]): string | null {
  const then = Date.parse(seenAt);
  const near = uses.filter(({ at }) => at && Math.abs(Date.parse(at) - then) < RECENT_MS);
  return near.length === 1 ? near[0]!.label : null;
}

/**
 * Waits for an agent. Its calls are not told by the stream, so it is looked for again and again. An agent that is `isNew` was
 * made for this, so all that it ever did is shown.
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
  // Until it is known what was before, nothing counts as new.
  return contactOf(start ?? { lastSeenAt: now.lastSeenAt, lastCall: Number.POSITIVE_INFINITY }, now);
}
