import * as Dialog from "@radix-ui/react-dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowRight, ChevronRight, Hash, Lock, Search } from "lucide-react";
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";

import { api, ok } from "../api/client";
import { channelsQuery, meQuery, partnersQuery } from "../api/queries";
import { withText } from "../pages/search/query";
import { Avatar } from "../ui/Avatar";
import { classes } from "../ui/classes";
import { useCommands } from "./commands";
import { shortcutHelp } from "./help";
import { palette, paletteText } from "./palette";
import { PLACES } from "./places";

interface Choice {
  group: string;
  label: string;
  /** What it does, where its name alone does not say it. */
  hint: string;
  icon: ReactNode;
  /** Where it leads, or what it does. */
  go: string | (() => void);
  /** What to look for there. */
  typed?: string;
}

const MOST = 12;

/** How well a text fits what is typed: its beginning, a word of it, or somewhere. */
export function rank(label: string, typed: string): number {
  const text = label.toLowerCase();
  const sought = typed.toLowerCase();
  if (!sought) return 1;
  if (text.startsWith(sought)) return 3;
  if (text.split(/[\s/_-]/).some((word) => word.startsWith(sought))) return 2;
  return text.includes(sought) ? 1 : 0;
}

/** The best of them, those of a group together, and the group with the best one first. */
export function bestOf<One extends { group: string; label: string }>(all: readonly One[], typed: string): One[] {
  const ranked = all.map((one) => ({ one, rank: rank(one.label, typed) })).filter((found) => found.rank > 0);
  ranked.sort((one, other) => other.rank - one.rank);
  const best = ranked.slice(0, MOST).map((found) => found.one);
  const groups = [...new Set(best.map((one) => one.group))];
  return groups.flatMap((group) => best.filter((one) => one.group === group));
}

/** Goes anywhere, and does things, by name. It is loaded when somebody first wants it. */
export default function PaletteDialog() {
  return (
    <Dialog.Root open onOpenChange={(next) => palette.set(next)}>
      <Body />
    </Dialog.Root>
  );
}

function useChoices(typed: string): Choice[] {
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
    // Before anything is typed, what the page can do is there to be seen.
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

function Body() {
  const navigate = useNavigate();
  const [text, setText] = useState(() => paletteText.get());
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const end = field.current?.value.length ?? 0;
    field.current?.setSelectionRange(end, end);
    paletteText.set("");
  }, []);
  const [chosen, setChosen] = useState(0);
  const typed = text.trim();
  const choices = useChoices(typed);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => setChosen(0), [typed]);
  // What comes later may be less than what there was.
  const at = Math.min(chosen, Math.max(0, choices.length - 1));
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const go = (choice: Choice | undefined) => {
    if (!choice) return;
    palette.set(false);
    if (typeof choice.go === "function") choice.go();
    else if (choice.typed === undefined) void navigate({ to: choice.go });
    else void navigate({ to: "/search", search: withText({}, choice.typed) });
  };
  const groups = [...new Set(choices.map((choice) => choice.group))];
  return (
    <Dialog.Portal>
      <div className="fixed inset-0 z-40 bg-shade" aria-hidden="true" />
      <Dialog.Content
        aria-describedby={undefined}
        className="fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[640px] max-w-[95vw] -translate-x-1/2 flex-col rounded-lg border border-line bg-bg shadow-lg"
      >
        <Dialog.Title className="sr-only">Search or jump to</Dialog.Title>
        <div className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-4">
          <Search size={16} aria-hidden="true" className="shrink-0 text-muted" />
          <input
            ref={field}
            autoFocus
            role="combobox"
            aria-label="Search or jump to"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={choices.length ? `${id}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            value={text}
            placeholder="Search or jump to"
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                const step = event.key === "ArrowDown" ? 1 : -1;
                setChosen((at + step + Math.max(1, choices.length)) % Math.max(1, choices.length));
              } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
                event.preventDefault();
                go(event.ctrlKey || event.metaKey ? choices.find((choice) => choice.typed !== undefined) : choices[at]);
              }
            }}
            className="h-full min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-muted"
          />
          <Key>esc</Key>
        </div>
        <div ref={list} id={`${id}-list`} role="listbox" aria-label="Places and commands" className="min-h-0 overflow-y-auto p-2">
          {groups.map((group) => (
            <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
              <p id={`${id}-${group}`} className="px-2 pt-2 pb-1 text-sm text-muted">
                {group}
              </p>
              {choices.map((choice, index) =>
                choice.group === group ? (
                  <div
                    key={`${choice.group} ${choice.label}`}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === at}
                    onMouseMove={() => setChosen(index)}
                    onClick={() => go(choice)}
                    className={classes(
                      "flex h-9 cursor-pointer items-center gap-3 rounded-sm px-2 pointer-coarse:h-11",
                      index === at && "bg-selected",
                    )}
                  >
                    <span aria-hidden="true" className="flex w-5 shrink-0 justify-center text-muted">
                      {choice.icon}
                    </span>
                    <span className="min-w-0 flex-1 truncate">
                      <Matched text={choice.label} typed={choice.typed === undefined ? typed : ""} />
                    </span>
                    <span className="max-w-[50%] truncate text-sm text-muted">{choice.hint}</span>
                  </div>
                ) : null,
              )}
            </div>
          ))}
        </div>
        <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 rounded-b-lg border-t border-line bg-panel px-4 py-2 text-sm text-muted max-md:hidden">
          <span>
            <Key>↑</Key> <Key>↓</Key> choose
          </span>
          <span>
            <Key>↵</Key> open
          </span>
          <span className="flex-1" />
          <button
            type="button"
            className="min-h-6 hover:text-fg"
            onClick={() => {
              palette.set(false);
              shortcutHelp.set(true);
            }}
          >
            All shortcuts
          </button>
        </div>
      </Dialog.Content>
    </Dialog.Portal>
  );
}

function Key({ children }: { children: string }) {
  return <kbd className="rounded-sm border border-line bg-bg px-1.5 font-sans text-xs text-muted">{children}</kbd>;
}

/** A text in which what was typed stands out. */
function Matched({ text, typed }: { text: string; typed: string }) {
  const at = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <strong>{text.slice(at, at + typed.length)}</strong>
      {text.slice(at + typed.length)}
    </>
  );
}
