import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";

/** A conversation among the starred ones. */
export type StarId = `channel:${string}` | `dm:${string}`;

/** The conversations that the person has starred. */
export const starredQuery = queryOptions({
  queryKey: ["starred"],
  queryFn: async (): Promise<ReadonlySet<string>> => {
    const { items } = await ok(api.GET("/api/starred"));
    return new Set(items.map(({ kind, name }) => `${kind}:${name}`));
  },
  staleTime: 60_000,
});

/** Adds a star to a conversation or removes it. It shows at once, and not if the hub refuses. */
export async function setStar(client: QueryClient, id: StarId, isStarred: boolean): Promise<void> {
  const put = (isIn: boolean) =>
    client.setQueryData(starredQuery.queryKey, (now) => {
      const ids = new Set(now);
      if (isIn) ids.add(id);
      else ids.delete(id);
      return ids;
    });
  await client.cancelQueries({ queryKey: starredQuery.queryKey });
  put(isStarred);
  const options = { params: { path: { conversation: id } } };
  try {
    await ok(isStarred ? api.PUT("/api/starred/{conversation}", options) : api.DELETE("/api/starred/{conversation}", options));
  } catch (error) {
    put(!isStarred);
    throw error;
  }
}
