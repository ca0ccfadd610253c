import type { QueryClient } from "@tanstack/react-query";

import { channelsQuery, meQuery } from "../api/queries";
import type { Message } from "../api/types";
import { type Seat, seatIn } from "./seat";

/** What the person is in the channel of a message, as far as the page has loaded it. */
export function seatOf(client: QueryClient, message: Pick<Message, "channel">): Seat | undefined {
  return seatIn(client.getQueryData(channelsQuery.queryKey), client.getQueryData(meQuery.queryKey), message);
}
