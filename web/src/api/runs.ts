import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Run = Schemas["RunView"];
export type RunStatus = Schemas["RunStatus"];
export type RunReason = Schemas["RunReason"];
export type RunStep = Schemas["RunStep"];
export type HarnessRun = Schemas["HarnessRunView"];
export type RunDetails = Schemas["RunDetails"] & { steps: RunStep[] };
export type ReactiveAgent = Schemas["ReactiveAgent"];
export type Check = Schemas["CheckView"];
export type Delivery = Schemas["DeliveryView"];

export interface RunFilter {
  agent?: string;
  /** One status, or several with commas between them. */
  status?: string;
}

export const RUNS_PAGE = 50;

export const ACTIVE: readonly RunStatus[] = ["queued", "running", "deferred"];
export const FAILED: readonly RunStatus[] = ["failed", "timed_out"];

export const isActive = ({ status }: Pick<Run, "status">) => ACTIVE.includes(status);

/** Runs of the person's agents, newest first. */
export const runsQuery = (filter: RunFilter, offset = 0, limit = RUNS_PAGE) =>
  queryOptions({
    queryKey: ["runs", "list", filter, offset, limit],
    queryFn: () => ok(api.GET("/api/runs", { params: { query: { ...filter, offset, limit } } })),
    placeholderData: (before) => before,
  });

const countOf = async (agent: string | undefined, statuses: readonly RunStatus[]) =>
  (await ok(api.GET("/api/runs", { params: { query: { agent, status: statuses.join(","), limit: 1 } } }))).total;

/** How many runs there are in each group of statuses. */
export const runCountsQuery = (agent?: string) =>
  queryOptions({
    queryKey: ["runs", "counts", agent ?? ""],
    queryFn: async () => {
      const groups: Array<readonly RunStatus[]> = [["running"], ["queued"], ["deferred"], ["succeeded"], FAILED, ["cancelled"]];
      const [running, queued, deferred, succeeded, failed, cancelled] = await Promise.all(groups.map((group) => countOf(agent, group)));
      return { running: running!, queued: queued!, deferred: deferred!, succeeded: succeeded!, failed: failed!, cancelled: cancelled! };
    },
    placeholderData: (before) => before,
  });

export const runKey = (id: number) => ["run", id] as const;

/** A run with its steps. A reload asks only for the steps that are new. */
export const runQuery = (id: number) =>
  queryOptions({
    queryKey: runKey(id),
    queryFn: async ({ client, queryKey }): Promise<RunDetails> => {
      const known = client.getQueryData<RunDetails>(queryKey)?.steps ?? [];
      const query = { steps: true, after_step: known.length };
      const details = await ok(api.GET("/api/runs/{id}", { params: { path: { id }, query } }));
      const fresh = details.steps ?? [];
      return { ...details, steps: fresh.length ? [...known, ...fresh] : known };
    },
    // Comparing 2,000 steps at each reload would take longer than drawing those in sight.
    structuralSharing: false,
  });

/** A run without its steps, for a run that is too old for the list at hand. */
export const oneRunQuery = (id: number) =>
  queryOptions({
    queryKey: ["runs", "one", id],
    queryFn: async () => (await ok(api.GET("/api/runs/{id}", { params: { path: { id } } }))).run,
  });

/** The person's agents that messages start, and what each is doing. */
export const reactiveQuery = queryOptions({
  queryKey: ["runs", "reactive"],
  queryFn: async () => (await ok(api.GET("/api/agents/reactive"))).items,
});

/** What a message has started, for each of its recipients that the person may know about. */
export const deliveryKey = (message: number) => ["delivery", message] as const;
export const deliveryQuery = (message: number) =>
  queryOptions({
    queryKey: deliveryKey(message),
    queryFn: async () => (await ok(api.GET("/api/messages/{id}/delivery", { params: { path: { id: message } } }))).items,
  });

function reload(client: QueryClient, id: number): void {
  for (const queryKey of [["runs"], runKey(id), ["delivery"]]) void client.invalidateQueries({ queryKey });
}

export async function cancelRun(client: QueryClient, id: number): Promise<Run> {
  try {
    return await ok(api.POST("/api/runs/{id}/cancel", { params: { path: { id } } }));
  } finally {
    reload(client, id);
  }
}

/** Starts a run with the same message. The answer is the new run. */
export async function retryRun(client: QueryClient, id: number): Promise<Run> {
  try {
    return await ok(api.POST("/api/runs/{id}/retry", { params: { path: { id } } }));
  } finally {
    reload(client, id);
  }
}

/** Replaces the secret that signs calls to an agent that runs elsewhere. */
export async function newRunSecret(name: string): Promise<string> {
  return (await ok(api.POST("/api/agents/{name}/run-secret", { params: { path: { name } } }))).secret;
}

/** What would become of a message to an agent now. Nothing is started. */
export function checkAgent(name: string, from: string | undefined): Promise<Check> {
  return ok(api.POST("/api/agents/{name}/check", { params: { path: { name } }, body: from ? { from } : {} }));
}

/** Sends a direct message to an agent, and says what it has started. */
export async function sendTo(client: QueryClient, name: string, body: string, repeat: string): Promise<Delivery | undefined> {
  const message = { to: name, body } as Schemas["SendMessageRequest"];
  const sent = await ok(api.POST("/api/messages", { params: { header: { "Idempotency-Key": repeat } }, body: message }));
  client.setQueryData(deliveryKey(sent.id), sent.delivery);
  return sent.delivery.find(({ recipient }) => recipient === name);
}
