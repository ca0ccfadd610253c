import type { QueryClient } from "@tanstack/react-query";

import { PRESENCES_KEY } from "../api/presencesKey";
import type { Delivery, Run } from "../api/runs";
import { numberIn, textIn } from "../live/handlers";
import { reloadSoon } from "../live/reloadSoon";
import type { LiveEvent } from "../live/stream";

/** The status of each run that has not ended, as the last event said. */
const active = new Map<number, string>();

/** Brings what the page has of runs up to date with an event. */
export function applyRun(client: QueryClient, event: LiveEvent): void {
  const [id, status] = [numberIn(event, "run_id"), textIn(event, "status")];
  if (id === undefined || status === undefined) return;
  reloadSoon(client, "run", id);
  const isNew = active.get(id) !== status;
  if (status === "queued" || status === "running" || status === "deferred") active.set(id, status);
  else active.delete(id);
  if (isNew) {
    reloadSoon(client, "runs");
    // An agent works while it has a run.
    reloadSoon(client, ...PRESENCES_KEY);
    if (textIn(event, "reason") === "acting_off") reloadSoon(client, "automation");
    reloadDeliveries(client, textIn(event, "agent"), numberIn(event, "trigger_message_id"));
    return;
  }
  // A step changes one row, so the lists are not loaded again.
  const last_step = textIn(event, "last_step");
  client.setQueriesData<{ items: Run[] }>({ queryKey: ["runs", "list"] }, (now) =>
    now?.items.some((run) => run.id === id) ? { ...now, items: now.items.map((run) => (run.id === id ? { ...run, last_step } : run)) } : now,
  );
}

/** A run that starts or ends may change what other messages to the agent wait for. Messages that have their run are not asked about again. */
function reloadDeliveries(client: QueryClient, agent: string | undefined, trigger: number | undefined): void {
  for (const [key, items] of client.getQueriesData<Delivery[]>({ queryKey: ["delivery"] })) {
    const waits = items?.some((item) => item.recipient === agent && (item.state !== "woken" || !item.run_id));
    if (waits || key[1] === trigger) reloadSoon(client, ...key);
  }
}
