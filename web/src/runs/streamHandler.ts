import type { StreamHandler } from "../live/handlers";

/** Keeps runs, their steps and what messages have started up to date. Few people have runs, so its code is loaded with the first event. */
export const runsHandler = {
  events: {
    run: (client, event) => void import("./applyRun").then(({ applyRun }) => applyRun(client, event), () => undefined),
  },
  // Runs that began before the stream was open.
  catchUp: (client) => void client.invalidateQueries({ queryKey: ["runs"] }),
} satisfies StreamHandler;
