import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Hook = Schemas["HookView"];
export type HookKind = Schemas["HookKind"];
export type HookOutcome = Schemas["HookOutcome"];
export type HookRequest = Schemas["HookRequestView"];
export type CreateHook = Schemas["CreateHookRequest"];
export type HookChanges = Schemas["UpdateHookRequest"];
export type CreatedHook = Schemas["CreatedHook"];

/** The event stream does not report requests to hooks, so the page asks for them. */
const LIST_EVERY_MS = 30_000;
const REQUESTS_EVERY_MS = 3000;

/** The person's hooks, newest first. */
export const hooksQuery = queryOptions({
  queryKey: ["hooks"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/hooks", { params: { query: { limit: 200, cursor } } }))),
  refetchInterval: LIST_EVERY_MS,
});

/** The latest requests to a hook, newest first. */
export const hookRequestsQuery = (id: string) =>
  queryOptions({
    queryKey: ["hook-requests", id],
    queryFn: () => ok(api.GET("/api/hooks/{id}/requests", { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.status === "error" ? false : REQUESTS_EVERY_MS),
  });

/** Creates a hook. The answer has its secret, which is never shown again. */
export async function createHook(client: QueryClient, hook: CreateHook, repeat: string): Promise<CreatedHook> {
  const created = await ok(api.POST("/api/hooks", { params: { header: { "Idempotency-Key": repeat } }, body: hook }));
  client.setQueryData<Hook[]>(hooksQuery.queryKey, (now) => [created.hook, ...(now ?? []).filter(({ id }) => id !== created.hook.id)]);
  void client.invalidateQueries({ queryKey: hooksQuery.queryKey });
  return created;
}

export async function changeHook(client: QueryClient, id: string, changes: HookChanges): Promise<void> {
  const hook = await ok(api.PATCH("/api/hooks/{id}", { params: { path: { id } }, body: changes }));
  client.setQueryData<Hook[]>(hooksQuery.queryKey, (now) => now?.map((one) => (one.id === id ? hook : one)));
}

/** Deletes a hook, and leaves its page before that finds no hook. Its messages stay. */
export async function deleteHook(client: QueryClient, id: string, leave: () => Promise<void>): Promise<void> {
  await ok(api.DELETE("/api/hooks/{id}", { params: { path: { id } } }));
  await leave();
  client.setQueryData<Hook[]>(hooksQuery.queryKey, (now) => now?.filter((one) => one.id !== id));
}
