import type { QueryClient } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Archetype = Schemas["Archetype"];

/** Creates an agent. The answer has its key, which is never shown again. */
export async function createAgent(
  client: QueryClient,
  agent: { name: string; display_name?: string; archetype: Archetype },
  repeat: string,
): Promise<Schemas["CreatedAgent"]> {
  const made = await ok(api.POST("/api/agents", { params: { header: { "Idempotency-Key": repeat } }, body: agent }));
  for (const queryKey of [["me"], ["agents"]]) void client.invalidateQueries({ queryKey });
  return made;
}
