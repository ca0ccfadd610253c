import { useQuery } from "@tanstack/react-query";

import { api, ok } from "../api/client";
import { channelsQuery } from "../api/queries";
import type { Partial } from "./completion";

const MOST_COMPLETIONS = 8;

/** A name that completes what is being typed. */
export interface Completion {
  word: string;
  kind: "user" | "agent" | "system" | "machine" | "channel";
  label: string;
}

/** The names and channels that begin like what is being typed. */
export function useCompletions(partial: Partial | null): Completion[] {
  const names = useQuery({
    queryKey: ["directory", partial?.text ?? ""],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: partial?.text ?? "", limit: MOST_COMPLETIONS } } })),
    enabled: partial?.kind === "name",
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
  const channels = useQuery({ ...channelsQuery, enabled: partial?.kind === "channel" });
  switch (partial?.kind) {
    case "name":
      return (names.data?.items ?? []).map((card) => ({ word: card.name, kind: card.kind, label: card.display_name }));
    case "channel":
      return (channels.data ?? [])
        .filter((channel) => channel.name.startsWith(partial.text))
        .slice(0, MOST_COMPLETIONS)
        .map((channel) => ({ word: channel.name, kind: "channel" as const, label: channel.topic }));
    default:
      return [];
  }
}
