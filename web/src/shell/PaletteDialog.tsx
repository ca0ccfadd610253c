import * as Dialog from "@radix-ui/react-dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";

import { channelsQuery, meQuery, partnersQuery } from "../api/queries";
import { withText } from "../pages/search/query";
import { classes } from "../ui/classes";
import { palette } from "./palette";
import { PLACES } from "./places";

interface Choice {
  group: string;
  label: string;
  go: string;
  /** What to look for there. */
  typed?: string;
}

/** How well a text fits what is typed: its beginning, a word of it, or somewhere. */
export function rank(label: string, typed: string): number {
  const text = label.toLowerCase();
  const sought = typed.toLowerCase();
  if (!sought) return 1;
  if (text.startsWith(sought)) return 3;
  if (text.split(/[\s/_-]/).some((word) => word.startsWith(sought))) return 2;
  return text.includes(sought) ? 1 : 0;
}

/** Goes anywhere by its name. It is loaded when somebody first wants it. */
export default function PaletteDialog() {
  return (
    <Dialog.Root open onOpenChange={(next) => palette.set(next)}>
      <Body />
    </Dialog.Root>
  );
}

function Body() {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const me = useQuery(meQuery).data;
  const channels = useQuery(channelsQuery).data;
  const partners = useQuery(partnersQuery).data;
  const choices = useMemo(() => {
    const all: Choice[] = [
      ...PLACES.filter((place) => !place.isForAdmins || me?.user.role === "admin").map((place) => ({ group: "Go to", label: place.label, go: place.to })),
      ...(channels ?? []).map((channel) => ({ group: "Channels", label: channel.name, go: `/channels/${channel.name}` })),
      ...(partners ?? []).map((partner) => ({ group: "Direct messages", label: partner.name, go: `/dm/${partner.name}` })),
      ...(me?.agents ?? []).map((agent) => ({ group: "Agents", label: agent.name, go: `/agents/${agent.name}` })),
      ...(me?.agents ?? [])
        .filter((agent) => !partners?.some((partner) => partner.name === agent.name))
        .map((agent) => ({ group: "Direct messages", label: agent.name, go: `/dm/${agent.name}` })),
    ];
    const found = all.map((choice) => ({ choice, rank: rank(choice.label, typed) })).filter((one) => one.rank > 0);
    found.sort((one, other) => other.rank - one.rank);
    const named = found.slice(0, 12).map((one) => one.choice);
    const sought = typed.trim();
    return sought ? [...named, { group: "Search", label: `Search messages for “${sought}”`, go: "/search", typed: sought }] : named;
  }, [typed, me, channels, partners]);
  useEffect(() => setChosen(0), [typed]);
  const go = (choice: Choice | undefined) => {
    if (!choice) return;
    palette.set(false);
    if (choice.typed === undefined) void navigate({ to: choice.go });
    else void navigate({ to: "/search", search: withText({}, choice.typed) });
  };
  return (
    <Dialog.Portal>
      <div className="fixed inset-0 z-40 bg-fg/20" aria-hidden="true" />
      <Dialog.Content
        aria-describedby={undefined}
        className="fixed top-[15vh] left-1/2 z-50 w-[640px] max-w-[95vw] -translate-x-1/2 rounded-lg border border-line bg-bg shadow-lg"
      >
        <Dialog.Title className="sr-only">Search or jump to</Dialog.Title>
        <input
          autoFocus
          role="combobox"
          aria-label="Search or jump to"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={choices.length ? `palette-${chosen}` : undefined}
          value={typed}
          placeholder="Search or jump to"
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              const step = event.key === "ArrowDown" ? 1 : -1;
              setChosen((now) => (now + step + Math.max(1, choices.length)) % Math.max(1, choices.length));
            } else if (event.key === "Enter") {
              event.preventDefault();
              go(choices[chosen]);
            }
          }}
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none placeholder:text-muted"
        />
        <ul id="palette-list" role="listbox" aria-label="Places" className="max-h-[50vh] overflow-y-auto p-1">
          {choices.map((choice, at) => (
            <li
              key={`${choice.group} ${choice.go}`}
              id={`palette-${at}`}
              role="option"
              aria-selected={at === chosen}
              onMouseMove={() => setChosen(at)}
              onClick={() => go(choice)}
              className={classes("flex h-9 cursor-pointer items-center gap-3 rounded-sm px-3", at === chosen && "bg-selected")}
            >
              <span className="flex-1 truncate">{choice.label}</span>
              <span className="text-sm text-muted">{choice.group}</span>
            </li>
          ))}
        </ul>
      </Dialog.Content>
    </Dialog.Portal>
  );
}
