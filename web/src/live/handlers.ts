import type { QueryClient } from "@tanstack/react-query";

import type { EventKind } from "../api/events";
import type { LiveEvent } from "./stream";

/** How one feature keeps the data that it shows up to date. `src/streamHandlers.ts` lists all of them. */
export interface StreamHandler {
  /** Called for each event of that kind. Changing cached data is better than loading it again. */
  events: Partial<Record<EventKind, (client: QueryClient, event: LiveEvent) => void>>;
  /** Loads the changes from before the stream was open. Called once, when the stream opens for the first time. */
  catchUp?: (client: QueryClient) => void;
}

export function handleEvent(handlers: readonly StreamHandler[], client: QueryClient, event: LiveEvent): void {
  for (const { events } of handlers) events[event.name]?.(client, event);
}

export function catchUp(handlers: readonly StreamHandler[], client: QueryClient): void {
  for (const handler of handlers) handler.catchUp?.(client);
}

/** A text in the data of an event, or undefined if the event has none of that name. */
export function textIn(event: LiveEvent, field: string): string | undefined {
  const value = event.data[field];
  return typeof value === "string" ? value : undefined;
}

/** A number in the data of an event, or undefined if the event has none of that name. */
export function numberIn(event: LiveEvent, field: string): number | undefined {
  const value = event.data[field];
  return typeof value === "number" ? value : undefined;
}
