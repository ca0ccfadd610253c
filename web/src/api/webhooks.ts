import { type QueryClient, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";
import { Problem } from "./problem";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Webhook = Schemas["WebhookView"];
export type WebhookEvent = Schemas["WebhookEvent"];
export type WebhookChanges = Schemas["UpdateWebhookRequest"];
export type Delivery = Schemas["DeliveryRecord"];
/** The client reads pairs as lists. */
export type DeliveryRequest = Omit<Schemas["DeliveryRequest"], "headers"> & { headers: string[][] };
export type DeliveryDetails = Delivery & { request?: DeliveryRequest | null };
export type DeliveryStatus = Schemas["DeliveryStatus"];
export type Attempt = Schemas["Attempt"];

export interface DeliveryFilter {
  agent?: string;
  webhook?: number;
  status?: DeliveryStatus;
  event?: WebhookEvent;
  since?: string;
  until?: string;
}

const MOST = 200;
const DELIVERIES_PAGE = 50;
/** The event stream does not report deliveries, so the page polls. */
export const LOOKS_AGAIN_MS = 5000;
const WAITS_MS = 1000;

/** Whether a retry cannot help, for example because the webhook was deleted. */
export const isFinal = (error: unknown) => error instanceof Problem && !error.isPassing;

/** The webhooks of an agent, or of all of the person's agents, newest first. */
export const webhooksQuery = (agent?: string) =>
  queryOptions({
    queryKey: ["webhooks", "list", agent ?? ""],
    queryFn: () => everyPage((cursor) => ok(api.GET("/api/webhooks", { params: { query: { agent, limit: MOST, cursor } } }))),
    refetchInterval: ({ state }) => (isFinal(state.error) ? false : LOOKS_AGAIN_MS),
  });

/** Deliveries, newest first, page by page. `useDeliveries` keeps them up to date. */
export const deliveriesQuery = ({ webhook, ...filter }: DeliveryFilter, limit = DELIVERIES_PAGE) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", "deliveries", { webhook, ...filter }, limit],
    queryFn: ({ pageParam }) => {
      const query = { ...filter, limit, cursor: pageParam };
      return webhook === undefined
        ? ok(api.GET("/api/webhooks/deliveries", { params: { query } }))
        : ok(api.GET("/api/webhooks/{id}/deliveries", { params: { path: { id: webhook }, query } }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** A delivery with its request. The page polls more often while it is pending. */
export const deliveryQuery = (id: number) =>
  queryOptions({
    queryKey: ["webhooks", "delivery", id],
    queryFn: () => ok(api.GET("/api/webhooks/deliveries/{id}", { params: { path: { id } } })),
    refetchInterval: ({ state }) => {
      if (isFinal(state.error)) return false;
      if (state.data?.status === "held") return LOOKS_AGAIN_MS;
      return state.data?.status === "pending" ? WAITS_MS : false;
    },
  });

/** Changes a webhook or a delivery, then reloads the queries that show it. */
async function change<T>(client: QueryClient, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } finally {
    void client.invalidateQueries({ queryKey: ["webhooks"] });
  }
}

/** The answer has the secret, which is never shown again. */
export function createWebhook(client: QueryClient, webhook: Schemas["CreateWebhookRequest"], repeat: string) {
  return change(client, ok(api.POST("/api/webhooks", { params: { header: { "Idempotency-Key": repeat } }, body: webhook })));
}

export function changeWebhook(client: QueryClient, id: number, changes: WebhookChanges) {
  return change(client, ok(api.PATCH("/api/webhooks/{id}", { params: { path: { id } }, body: changes })));
}

/** The hub deletes the deliveries too, so the page does not reload them. */
export async function deleteWebhook(client: QueryClient, id: number) {
  await ok(api.DELETE("/api/webhooks/{id}", { params: { path: { id } } }));
  client.setQueriesData<Webhook[]>({ queryKey: ["webhooks", "list"] }, (now) => now?.filter((webhook) => webhook.id !== id));
  void client.invalidateQueries({ queryKey: ["webhooks", "list"] });
}

/** Sends a test. Its delivery has the result. */
export function testWebhook(client: QueryClient, id: number) {
  return change(client, ok(api.POST("/api/webhooks/{id}/test", { params: { path: { id } } })));
}

export function rotateSecret(client: QueryClient, id: number, keepOld: boolean) {
  return change(client, ok(api.POST("/api/webhooks/{id}/rotate-secret", { params: { path: { id } }, body: { keep_old: keepOld } })));
}

export function retryDelivery(client: QueryClient, id: number) {
  return change(client, ok(api.POST("/api/webhooks/deliveries/{id}/retry", { params: { path: { id } } })));
}

/** Sends the dead letters of a webhook again, and says how many. */
export function retryDead(client: QueryClient, id: number, since: string | undefined) {
  return change(client, ok(api.POST("/api/webhooks/{id}/retry-dead", { params: { path: { id } }, body: { since } })));
}
