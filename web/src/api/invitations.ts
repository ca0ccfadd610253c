import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";
import type { components } from "./schema";

/** An invitation and what became of it. The hub never shows its link again. */
export type Invitation = components["schemas"]["InvitationView"];

const KEY = ["admin", "invitations"];

export const invitationsQuery = queryOptions({
  queryKey: KEY,
  queryFn: () => everyPage((cursor) => ok(api.GET("/api/admin/invitations", { params: { query: { limit: 200, cursor } } }))),
  // They are made on the command line and used by people without an account, so no event reports them.
  refetchInterval: 5000,
});

export async function revokeInvitation(client: QueryClient, id: number): Promise<void> {
  try {
    await ok(api.DELETE("/api/admin/invitations/{id}", { params: { path: { id } } }));
  } finally {
    // Somebody may have used it in the meantime.
    void client.invalidateQueries({ queryKey: KEY });
  }
}
