import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, ok } from "./client";
import { everyPage } from "./pages";

/** An invitation that somebody printed. What it is worth, the hub does not show again. */
export interface Invitation {
  id: number;
  note: string | null;
  role: "admin" | "member";
  invited_by: string | null;
  status: "open" | "used" | "revoked" | "expired";
  created_at: string;
  expires_at: string;
  used_at?: string | null;
  used_by?: string | null;
}

const KEY = ["admin", "invitations"];

export const invitationsQuery = queryOptions({
  queryKey: KEY,
  queryFn: () =>
    everyPage((cursor) => ok(api.GET("/api/admin/invitations" as never, { params: { query: { limit: 200, cursor } } } as never)) as Promise<{ items: Invitation[]; next_cursor?: string | null }>),
  // They are made on the command line and used by people without an account, so no event reports them.
  refetchInterval: 15_000,
});

export async function revokeInvitation(client: QueryClient, id: number): Promise<void> {
  try {
    await ok(api.DELETE("/api/admin/invitations/{id}" as never, { params: { path: { id } } } as never));
  } finally {
    // Somebody may have used it in the meantime.
    void client.invalidateQueries({ queryKey: KEY });
  }
}
