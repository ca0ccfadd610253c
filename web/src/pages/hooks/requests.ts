import type { HookRequest } from "../../api/hooks";

export type KeyedRequest = HookRequest & { key: string };

/** Requests with keys that stay the same when newer ones come, so that the focus stays where it is. Equal requests count from the oldest. */
export function keyed(newestFirst: readonly HookRequest[]): KeyedRequest[] {
  const counts = new Map<string, number>();
  return newestFirst
    .toReversed()
    .map((request) => {
      const name = [request.received_at, request.outcome, request.delivery_id, request.message_id].join(" ");
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return { ...request, key: `${name} ${count}` };
    })
    .reverse();
}
