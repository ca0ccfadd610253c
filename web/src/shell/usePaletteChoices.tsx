import { useQuery } from "@tanstack/react-query";
import { ArrowRight, ChevronRight, Hash, Lock, Search } from "lucide-react";
import { type ReactNode, useMemo } from "react";

import { api, ok } from "../api/client";
import { channelsQuery, meQuery, partnersQuery } from "../api/queries";
import { Avatar } from "../ui/Avatar";
import { useCommands } from "./commands";
import { bestOf } from "./paletteRank";
import { PLACES } from "./places";

export interface Choice {
  group: string;
  label: string;
  /** What it does, if the label does not say it. */
  hint: string;
  icon: ReactNode;
  /** The address that it opens, or the function that it runs. */
  go: string | (() => void);
  /** The words to search for. */
  typed?: string;
}

/** What the palette offers for the typed text. */
export function usePaletteChoices(typed: string): Choice[] {
  const me = useQuery(meQuery).data;
  const channels = useQuery(channelsQuery).data;
  const partners = useQuery(partnersQuery).data;
  const commands = useCommands();
  const others = useQuery({
    queryKey: ["directory", typed],
    queryFn: () => ok(api.GET("/api/directory", { params: { query: { q: typed, limit: 8 } } })),
    enabled: typed.length > 1 && typed.length <= 64,
    staleTime: 30_000,
  }).data;
  return useMemo(() => {
    const agents = (me?.agents ?? []).map(({ name, display_name }) => ({ name, display_name, kind: "agent" as const }));
    const seen = new Set([me?.user.username]);
    const people = [...(partners ?? []), ...agents, ...(others?.items ?? [])].filter(({ name }) => !seen.has(name) && seen.add(name));
    // Before the person types, the list shows what the page can do.
    const bare: Choice[] = [
      ...PLACES.filter((place) => !place.isForAdmins || me?.user.role === "admin").map((place) => ({
        group: "Go to",
        label: place.label,
        hint: "",
        icon: <ArrowRight size={16} />,
        go: place.to,
      })),
      ...commands.map(({ label, hint, run }) => ({ group: "Commands", label, hint: hint ?? "", icon: <ChevronRight size={16} />, go: run })),
    ];
    if (!typed) return bare;
    const all: Choice[] = [
      ...bare,
      ...(channels ?? []).map(({ name, topic, public: isPublic }) => ({
        group: "Channels",
        label: name,
        hint: topic,
        icon: isPublic ? <Hash size={16} /> : <Lock size={16} />,
        go: `/channels/${name}`,
      })),
      ...people.map(({ name, kind, display_name }) => ({
        group: "Agents and people",
        label: name,
        hint: "Message",
        icon: <Avatar name={name} kind={kind} displayName={display_name} size="small" />,
        go: `/dm/${name}`,
      })),
      ...agents.map(({ name }) => ({
        group: "Agents and people",
        label: `${name}: open agent page`,
        hint: "",
        icon: <Avatar name={name} kind="agent" size="small" />,
        go: `/agents/${name}`,
      })),
    ];
    const found = bestOf(all, typed);
    const search = { label: `Search messages for “${typed}”`, hint: "Ctrl ↵", icon: <Search size={16} />, go: "/search" };
    return [...found, { ...search, group: "Messages", typed }];
  }, [typed, me, channels, partners, others, commands]);
}
