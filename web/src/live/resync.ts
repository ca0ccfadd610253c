import type { StreamHandler } from "./handlers";

/** The hub sends `resync` when the page missed events that it can no longer get, so everything is loaded again. */
export const resyncHandler = {
  events: {
    resync: (client) => void client.invalidateQueries({ predicate: ({ meta }) => meta?.["isKeptOnResync"] !== true }),
  },
} satisfies StreamHandler;
