import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import type { PresenceState } from "../ui/PresenceDot";
import { api, ok } from "./client";

/** What everybody may know of a person or an agent. */
export interface Profile {
  name: string;
  kind: "user" | "agent";
  display_name: string;
  owner?: string | null;
  description?: string | null;
  presence: PresenceState;
  last_seen_at?: string | null;
  role?: "admin" | "member" | null;
  created_at: string;
  trust: Array<{ action_type: string; score: number }>;
  shared_channels: string[];
}

const REFRESHED_MS = 15_000;

/** The event stream does not report everything that a profile shows, so an open one is reloaded from time to time. */
export const profileQuery = (name: string) =>
  queryOptions({
    queryKey: ["profile", name],
    queryFn: () => ok(api.GET("/api/directory/{name}" as never, { params: { path: { name } } } as never)) as Promise<Profile>,
    staleTime: REFRESHED_MS,
    refetchInterval: ({ state }) => (state.status === "error" ? false : REFRESHED_MS),
  });

/** People and agents whose names begin with what was typed. */
export const directoryQuery = (typed: string, limit: number) =>
  queryOptions({
    queryKey: ["directory", typed, limit],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: typed, limit } } })),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
