import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Automation = Schemas["AutomationView"];
export type AutomationItem = Schemas["AutomationItem"];
export type Waiting = Schemas["Waiting"];

/** Everything of the person that may start by itself, and whether it is stopped. */
export const automationQuery = queryOptions({ queryKey: ["automation"], queryFn: () => ok(api.GET("/api/automation")) });

/** Takes the answer as the new state. What the runs and the messages show has changed, too. */
async function change(client: QueryClient, call: Promise<Automation>): Promise<Automation> {
  const now = await call;
  client.setQueryData(automationQuery.queryKey, now);
  for (const key of ["runs", "delivery", "webhooks"]) void client.invalidateQueries({ queryKey: [key] });
  return now;
}

export function stopAll(client: QueryClient): Promise<Automation> {
  return change(client, ok(api.POST("/api/automation/stop")));
}

export function resumeAll(client: QueryClient, waiting: Waiting): Promise<Automation> {
  return change(client, ok(api.POST("/api/automation/resume", { body: { waiting } })));
}
