import { queryOptions } from "@tanstack/react-query";

/** The conversations that the person has starred, as `channel:NAME` or `dm:NAME`. */
export const starredQuery = queryOptions({
  queryKey: ["starred"],
  queryFn: async (): Promise<ReadonlySet<string>> => new Set(),
  staleTime: Number.POSITIVE_INFINITY,
});
