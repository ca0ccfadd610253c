import type { QueryClient } from "@tanstack/react-query";

import { api, ok } from "./client";

const at = (name: string, principal: string) => ({ params: { path: { name, principal } } });

function refresh(client: QueryClient, channel: string): void {
  for (const queryKey of [["channel", channel], ["channels"]]) void client.invalidateQueries({ queryKey });
}

export async function addMember(client: QueryClient, channel: string, who: string): Promise<void> {
  try {
    await ok(api.PUT("/api/channels/{name}/members/{principal}", at(channel, who)));
  } finally {
    refresh(client, channel);
  }
}

export async function removeMember(client: QueryClient, channel: string, who: string): Promise<void> {
  try {
    await ok(api.DELETE("/api/channels/{name}/members/{principal}", at(channel, who)));
  } finally {
    refresh(client, channel);
  }
}
