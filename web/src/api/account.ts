import { queryOptions } from "@tanstack/react-query";

import { APPEARANCE } from "../lib/appearance";
import { person } from "../lib/person";
import { forget, load, save } from "../lib/storage";
import { api, ok } from "./client";
import { everyPage } from "./pages";
import { leave, leaving, tellTabs } from "./tabs";
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

/** Ends the session. */
export const logOut = () => leaveBy(() => ok(api.POST("/auth/logout")));

/** Ends all sessions of the person, this one as well. */
export const logOutEverywhere = () => leaveBy(() => ok(api.DELETE("/auth/sessions")));

/**
 * Ends the session, and goes where one can begin another. Who logs out on purpose may leave the browser to somebody else, so their drafts
 * and unsent messages are deleted first, in all tabs, even if the hub cannot be reached.
 */
async function leaveBy(end: () => Promise<unknown>): Promise<void> {
  const keepAgain = forget(person.get());
  tellTabs({ loggingOut: person.get() });
  const looks = load<unknown>(APPEARANCE, null);
  // The stream ends with the session, perhaps before the answer is here. That is no reason to come back to this place.
  leaving.isNow = true;
  try {
    await end();
  } catch (error) {
    keepAgain();
    leaving.isNow = false;
    throw error;
  }
  // The answer makes the browser delete all that it keeps of the hub. How the page looks is of the browser, not of the person.
  save(APPEARANCE, looks);
  tellTabs({ loggedOut: person.get() });
  leave();
}
