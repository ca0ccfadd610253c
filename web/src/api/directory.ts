import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

/** What everybody may know of a person or an agent. */
export type Profile = components["schemas"]["Profile"];

const REFRESHED_MS = 15_000;

/** The event stream does not report everything that a profile shows, so an open one is reloaded from time to time. */
export const profileQuery = (name: string) =>
  queryOptions({
    queryKey: ["profile", name],
    queryFn: () => ok(api.GET("/api/directory/{name}", { params: { path: { name } } })),
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
