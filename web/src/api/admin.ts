import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type AuditEntry = Schemas["Page_AuditEntry"]["items"][number];
export type Machine = Schemas["Page_MachineSummary"]["items"][number];
export type Registry = Schemas["RegistryView"];
export type User = Schemas["UserView"];

const all = (cursor: string | undefined) => ({ params: { query: { limit: 200, cursor } } });

export const usersQuery = queryOptions({
  queryKey: ["admin", "users"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/admin/users", all(cursor)))),
});

export interface AuditFilter {
  actor?: string;
  action?: string;
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["admin", "audit", filter],
    queryFn: ({ pageParam }) =>
      ok(api.GET("/api/admin/audit", { params: { query: { ...filter, limit: 50, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const allClientsQuery = queryOptions({
  queryKey: ["admin", "oauth-clients"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/admin/oauth-clients", all(cursor)))),
});

/** The machine principals, and in what state the registry is that names them. */
export const machinesQuery = queryOptions({
  queryKey: ["admin", "principals"],
  queryFn: async (): Promise<{ machines: Machine[]; registry: Registry | undefined }> => {
    let registry: Registry | undefined;
    const machines = await everyPage(async (cursor) => {
      const page = await ok(api.GET("/api/admin/principals", all(cursor)));
      registry = page.registry;
      return page;
    });
    return { machines, registry };
  },
});

const REFRESHED_MS = 10_000;

export const systemQuery = queryOptions({
  queryKey: ["admin", "system"],
  queryFn: () => ok(api.GET("/api/admin/system")),
  refetchInterval: REFRESHED_MS,
});

/** Whether the hub is up, and whether it can serve requests: the two answers that watchers ask for. */
export const healthQuery = queryOptions({
  queryKey: ["admin", "health"],
  queryFn: async () => {
    const said = async (path: "/healthz" | "/readyz") => {
      const answer = await api.GET(path).catch(() => null);
      return { isGood: answer?.response.ok ?? false, word: answer?.data?.status ?? `status ${answer?.response.status ?? "none"}` };
    };
    const [alive, ready] = await Promise.all([said("/healthz"), said("/readyz")]);
    return { alive, ready };
  },
  refetchInterval: REFRESHED_MS,
});
