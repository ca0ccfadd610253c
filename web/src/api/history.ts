import { queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";
import type { components } from "./schema";

/** An approval of one text of a message. */
export type Approval = components["schemas"]["ApprovalView"];

/** A text that a message has had, and who approved it. */
export type Revision = components["schemas"]["RevisionView"];

/** The texts of a message, oldest first; the last one is the text now. */
export const historyQuery = (id: number) =>
  queryOptions({
    queryKey: ["history", id],
    queryFn: (): Promise<Revision[]> =>
      everyPage((cursor) => ok(api.GET("/api/messages/{id}/history", { params: { path: { id }, query: { limit: 200, cursor } } }))),
    // It is opened to see what is there now.
    staleTime: 0,
    gcTime: 0,
  });
