import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Trace = Schemas["CountedPage_TraceView"]["items"][number];
export type ActionStats = Schemas["ActionStats"];

export interface TraceFilter {
  agent?: string;
  action?: string;
  since?: string;
  until?: string;
}

export const TRACES_PAGE = 50;

export const tracesQuery = (filter: TraceFilter, offset: number) =>
  queryOptions({
    queryKey: ["traces", "list", filter, offset],
    queryFn: () => ok(api.GET("/api/traces", { params: { query: { ...filter, offset, limit: TRACES_PAGE } } })),
    placeholderData: (before) => before,
  });

export const traceStatsQuery = (filter: TraceFilter) =>
  queryOptions({
    queryKey: ["traces", "stats", filter],
    queryFn: () => ok(api.GET("/api/traces/stats", { params: { query: { ...filter } } })),
    placeholderData: (before) => before,
  });
