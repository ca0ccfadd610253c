import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

/** How much the agent is trusted with one kind of action. */
export type Trust = components["schemas"]["TrustView"];

/** Trust by kind of action. */
export const trustQuery = (agent: string) =>
  queryOptions({
    queryKey: ["trust", agent],
    queryFn: () => ok(api.GET("/api/trust/{agent}", { params: { path: { agent } } })),
  });
