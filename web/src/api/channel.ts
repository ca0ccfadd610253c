import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import type { ChannelDetails } from "./types";

/** A channel as it was read, so that a change of it can say from what it started. */
export interface RevisedChannel extends ChannelDetails {
  revision: string | undefined;
}

/** An answer together with its ETag. */
export async function withRevision(
  call: Promise<{ data?: ChannelDetails; error?: unknown; response: Response }>,
): Promise<RevisedChannel> {
  let revision: string | undefined;
  const noted = call.then((answer) => {
    revision = answer.response.headers.get("ETag") ?? undefined;
    return answer;
  });
  const details = await ok(noted);
  return { ...details, revision };
}

/** Its key begins like that of `channelQuery`, so what happens to the channel refreshes both. */
export const revisedChannelQuery = (name: string) =>
  queryOptions({
    queryKey: ["channel", name, "revised"],
    queryFn: () => withRevision(api.GET("/api/channels/{name}", { params: { path: { name } } })),
  });
