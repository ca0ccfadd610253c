import { useQuery } from "@tanstack/react-query";

import { api, ok } from "../../api/client";
import { channelsQuery } from "../../api/queries";
import type { PrincipalKind, WorkflowState } from "../../api/types";
import { STATE_ORDER, stateWord } from "../../ui/StateBadge";
import type { Filter } from "./address";
import type { Partial } from "./query";

export const HAS: ReadonlyArray<{ name: string; label: string }> = [
  { name: "attachment", label: "Attachment" },
  { name: "image", label: "Image" },
  { name: "pdf", label: "PDF" },
  { name: "text", label: "Text file" },
  { name: "link", label: "Link" },
  { name: "reaction", label: "Reaction" },
  { name: "mention", label: "Mention" },
];

/** What can be typed, and what it finds. */
export const HELP: ReadonlyArray<{ filter: Filter; typed: string; about: string }> = [
  { filter: "channel", typed: "channel:ops,-general", about: "in #ops but not #general" },
  { filter: "agent", typed: "agent:scout", about: "from this agent or person" },
  { filter: "after", typed: "after:2027-01-01", about: "on or after this day" },
  { filter: "before", typed: "before:2027-02-01", about: "before this day" },
  { filter: "state", typed: "state:done,approved", about: "in one of these states" },
  { filter: "has", typed: "has:link,-image", about: "with a link but no image" },
];

export interface Suggestion {
  word: string;
  about: string;
  kind?: PrincipalKind | "channel";
}

const MOST = 8;
const DAY_MS = 86_400_000;

/** Days as the hub counts them, which is in UTC. */
function days(now: number): Suggestion[] {
  const day = (ago: number) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
  return [
    { word: day(0), about: "today" },
    { word: day(1), about: "yesterday" },
    { word: day(7), about: "a week ago" },
    { word: day(30), about: "30 days ago" },
  ];
}

/** What fits what is being typed. */
export function useSuggestions(partial: Partial | null): Suggestion[] {
  const filter = partial?.kind === "value" ? partial.filter : null;
  const typed = partial?.text ?? "";
  const names = useQuery({
    queryKey: ["directory", typed],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: typed, limit: MOST } } })),
    enabled: filter === "agent",
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
  const channels = useQuery({ ...channelsQuery, enabled: filter === "channel" });
  const begins = (suggestion: Suggestion) => suggestion.word.toLowerCase().startsWith(typed.toLowerCase());
  if (partial?.kind === "operator") {
    return HELP.filter((one) => one.filter.startsWith(typed)).map((one) => ({ word: `${one.filter}:`, about: one.about }));
  }
  switch (filter) {
    case "agent":
      return (names.data?.items ?? []).map((card) => ({ word: card.name, about: card.display_name, kind: card.kind }));
    case "channel":
      return (channels.data ?? [])
        .map((channel) => ({ word: channel.name, about: channel.topic, kind: "channel" as const }))
        .filter(begins)
        .slice(0, MOST);
    case "state":
      return STATE_ORDER.map((state: WorkflowState) => ({ word: state, about: stateWord(state) })).filter(begins);
    case "has":
      return HAS.map((one) => ({ word: one.name, about: one.label })).filter(begins);
    case "after":
    case "before":
      return days(Date.now()).filter(begins);
    default:
      return [];
  }
}
