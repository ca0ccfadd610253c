import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { AGENTS_KEY, agentKey } from "./agentKeys";
import { api, ok } from "./client";
import { Problem } from "./problem";
import type { components } from "./schema";
import type { Agent } from "./types";

type Schemas = components["schemas"];

export type ApiKey = Schemas["ApiKeyView"];
export type AgentChanges = Schemas["UpdateAgentRequest"];
export type Trace = Schemas["TraceView"];
export type TriggerMode = Schemas["TriggerMode"];

/** An agent, and which state of it this is. */
export interface RevisedAgent {
  agent: Agent;
  etag: string | null;
}

/** What the stream last told of somebody's coming and going. */
export interface Presence {
  isOnline: boolean;
  lastSeenAt: string;
}

const DAY_MS = 86_400_000;
/** As many as the hub gives at once. */
const MOST = 200;

/** The agents that one owns, by name. */
export const agentsQuery = queryOptions({
  queryKey: AGENTS_KEY,
  queryFn: async () => {
    const agents: Agent[] = [];
    let cursor: string | undefined;
    do {
      const page = await ok(api.GET("/api/agents", { params: { query: { limit: MOST, cursor } } }));
      agents.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    return agents;
  },
});

async function withRevision(call: Promise<{ data?: Agent; error?: unknown; response: Response }>): Promise<RevisedAgent> {
  const agent = await ok(call);
  return { agent, etag: (await call).response.headers.get("etag") };
}

export const agentQuery = (name: string) =>
  queryOptions({
    queryKey: agentKey(name),
    queryFn: () => withRevision(api.GET("/api/agents/{name}", { params: { path: { name } } })),
  });

export const presenceQuery = (name: string) =>
  queryOptions({ queryKey: ["presence", name], queryFn: (): Presence | null => null, staleTime: Number.POSITIVE_INFINITY });

/** Puts an agent as it now is into everything that shows it. */
function keep(client: QueryClient, revised: RevisedAgent): void {
  const { agent } = revised;
  client.setQueryData<RevisedAgent>(agentQuery(agent.name).queryKey, revised);
  client.setQueryData<Agent[]>(agentsQuery.queryKey, (now) => now?.map((one) => (one.name === agent.name ? agent : one)));
  void client.invalidateQueries({ queryKey: ["me"] });
}

/** Does something to an agent. Where it is gone, all that shows it is to find that out. */
async function change<T>(client: QueryClient, name: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) {
      for (const queryKey of [["agent", name], ["agents"], ["me"]]) void client.invalidateQueries({ queryKey });
    }
    throw error;
  }
}

/** Changes settings; with `etag`, only if they are still as they were read. */
export async function changeAgent(client: QueryClient, name: string, changes: AgentChanges, etag?: string | null): Promise<RevisedAgent> {
  const header = etag ? { "If-Match": etag } : undefined;
  const revised = await change(client, name, withRevision(api.PATCH("/api/agents/{name}", { params: { path: { name }, header }, body: changes })));
  keep(client, revised);
  return revised;
}

export async function pauseAgent(client: QueryClient, name: string): Promise<void> {
  keep(client, await change(client, name, withRevision(api.POST("/api/agents/{name}/pause", { params: { path: { name } } }))));
}

export async function resumeAgent(client: QueryClient, name: string): Promise<void> {
  keep(client, await change(client, name, withRevision(api.POST("/api/agents/{name}/resume", { params: { path: { name } } }))));
}

export async function unquarantineAgent(client: QueryClient, name: string): Promise<void> {
  keep(client, await change(client, name, withRevision(api.POST("/api/agents/{name}/unquarantine", { params: { path: { name } } }))));
}

export async function deleteAgent(client: QueryClient, name: string): Promise<void> {
  await change(client, name, ok(api.DELETE("/api/agents/{name}", { params: { path: { name } } })));
  client.setQueryData<Agent[]>(agentsQuery.queryKey, (now) => now?.filter((one) => one.name !== name));
  for (const queryKey of [["me"], ["agents"], ["keys"]]) void client.invalidateQueries({ queryKey });
}

/** Gives an agent a new key; the one before stops working. */
export async function rotateKey(client: QueryClient, name: string): Promise<string> {
  const made = await change(client, name, ok(api.POST("/api/agents/{name}/key", { params: { path: { name } } })));
  void client.invalidateQueries({ queryKey: ["agent", name] });
  return made.key;
}

/** What was done in the last day, newest first: by one agent, or by the person and all of theirs. */
export const dayOfTracesQuery = (agent?: string) =>
  queryOptions({
    queryKey: ["traces", "day", agent ?? ""],
    queryFn: () => {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      return ok(api.GET("/api/traces", { params: { query: { agent, since, limit: MOST } } }));
    },
    refetchInterval: 60_000,
  });

/** The latest calls of an agent, often: whoever looks at them waits for the next one. */
export const latestCallsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["traces", "latest", agent],
    queryFn: () => ok(api.GET("/api/traces", { params: { query: { agent, limit: 20 } } })),
    refetchInterval: 2000,
  });

/** The managed keys of an agent, newest first. */
export const keysOfAgentQuery = (agent: string) =>
  queryOptions({
    queryKey: ["keys", "agent", agent],
    queryFn: async () => {
      const keys: ApiKey[] = [];
      let cursor: string | undefined;
      do {
        const page = await ok(api.GET("/api/keys", { params: { query: { limit: MOST, cursor } } }));
        keys.push(...page.items.filter((key) => key.agent === agent));
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      return keys.sort((one, other) => other.id - one.id);
    },
  });

export const partnersOfAgentQuery = (agent: string) =>
  queryOptions({
    queryKey: ["partners", "of", agent],
    queryFn: () => ok(api.GET("/api/dm/partners", { params: { query: { as: agent } } })),
  });
