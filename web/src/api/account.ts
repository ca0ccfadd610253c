import { queryOptions } from "@tanstack/react-query";

import { save } from "../lib/storage";
import { outgoingKey } from "../messages/outbox";
import { api, ok } from "./client";
import { everyPage } from "./pages";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type ApiKey = Schemas["ApiKeyView"];
export type Grant = Schemas["Page_GrantView"]["items"][number];
export type OauthClient = Schemas["OauthClientView"];
export type Permission = Schemas["PermissionSet"][number];
export type Session = Schemas["Page_SessionView"]["items"][number];
export type NotificationLevel = Schemas["NotificationLevel"];
export type NotificationSettings = Schemas["NotificationSettings"];

const all = (cursor: string | undefined) => ({ params: { query: { limit: 200, cursor } } });

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/auth/sessions", all(cursor)))),
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/keys", all(cursor)))),
});

export const grantsQuery = queryOptions({
  queryKey: ["grants"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/oauth/grants", all(cursor)))),
});

export const clientsQuery = queryOptions({
  queryKey: ["oauth-clients"],
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/oauth/clients", all(cursor)))),
});

export const notificationsQuery = queryOptions({
  queryKey: ["notification-settings"],
  queryFn: () => ok(api.GET("/api/notifications/settings")),
});

/** Ends the session, and goes where one can begin another. */
export async function logOut(): Promise<void> {
  await ok(api.POST("/auth/logout"));
  // Who logs out on purpose has given up what they did not send.
  save(outgoingKey(), null, "tab");
  location.assign("/login");
}
