import { type StreamHandler, textIn } from "../../live/handlers";
import { reloadSoon } from "../../live/reloadSoon";

/** Keeps the list of channels, and the settings and members of each, up to date. */
export const channelsHandler = {
  events: {
    channel: (client, event) => {
      reloadSoon(client, "channels");
      reloadSoon(client, "channel", textIn(event, "name") ?? "");
    },
  },
} satisfies StreamHandler;
