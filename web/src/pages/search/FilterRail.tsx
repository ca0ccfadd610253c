import { useQuery } from "@tanstack/react-query";
import { Ban, Hash, Lock, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { channelsQuery, meQuery, partnersQuery } from "../../api/queries";
import type { Author } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button, IconButton } from "../../ui/Button";
import { INPUT } from "../../ui/Field";
import { STATE_ORDER, StateBadge } from "../../ui/StateBadge";
import { classes } from "../../ui/classes";
import type { Search } from "./address";
import { type ListFilter, type Standing, itemsOf, standingOf, withStanding } from "./query";
import { HAS } from "./suggestions";

/** More of them are shown on demand. */
const SHOWN = 6;

interface FilterRailProps {
  search: Search;
  onSearch: (next: Search) => void;
  /** Who wrote what is found. */
  authors: readonly Author[];
  /** Where the screen is too narrow for it, it covers the results as long as it is open. */
  isOpen: boolean;
  onClose: () => void;
}

/** The same as the chips, to choose from. */
export function FilterRail({ search, onSearch, authors, isOpen, onClose }: FilterRailProps) {
  const channels = useQuery(channelsQuery).data ?? [];
  const people = usePeople(authors);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isOpen) title.current?.focus();
  }, [isOpen]);
  const change = (filter: ListFilter, name: string, standing: Standing) =>
    onSearch({ ...search, [filter]: withStanding(search[filter], name, standing) });
  const rowsOf = (filter: ListFilter, known: ReadonlyArray<{ name: string; label?: ReactNode; icon?: ReactNode }>) => {
    const chosen = itemsOf(search[filter]).map((item) => item.name);
    // What is looked for can be taken away here, whether or not there is such a thing.
    const unknown = chosen.filter((name) => !known.some((one) => one.name === name)).map((name) => ({ name, label: name, icon: undefined }));
    return [...unknown, ...known].map(({ name, label, icon }) => ({
      isChosen: chosen.includes(name),
      row: (
        <Row
          key={name}
          name={name}
          icon={icon}
          standing={standingOf(search[filter], name)}
          onChange={(standing) => change(filter, name, standing)}
        >
          {label ?? name}
        </Row>
      ),
    }));
  };
  const mine = channels.toSorted((one, other) => Number(other.is_member) - Number(one.is_member));
  return (
    <aside
      aria-label="Filters"
      className={classes(
        "flex w-60 shrink-0 flex-col gap-5 overflow-y-auto border-l border-line bg-bg p-4",
        "max-lg:fixed max-lg:inset-0 max-lg:z-30 max-lg:w-full max-lg:border-l-0",
        !isOpen && "max-lg:hidden",
      )}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <div className="flex items-center gap-2 lg:hidden">
        <h2 ref={title} tabIndex={-1} className="flex-1 text-lg font-semibold outline-none">
          Filters
        </h2>
        <IconButton label="Close the filters" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </div>
      <Part
        title="Channel"
        rows={rowsOf(
          "channel",
          mine.map(({ name, public: isPublic }) => ({ name, icon: isPublic ? <Hash size={14} /> : <Lock size={14} /> })),
        )}
      />
      <Part
        title="From"
        rows={rowsOf(
          "agent",
          people.map(({ name, kind, display_name }) => ({
            name,
            icon: <Avatar name={name} kind={kind} displayName={display_name} size="small" />,
          })),
        )}
      />
      <Part
        title="State"
        rows={rowsOf(
          "state",
          STATE_ORDER.map((state) => ({ name: state, label: <StateBadge state={state} isBare /> })),
        )}
        isWhole
      />
      <Part title="Has" rows={rowsOf("has", HAS)} isWhole />
      <fieldset className="flex flex-col gap-2">
        <legend className="pb-1 text-sm font-semibold text-muted">Date</legend>
        <Day label="From" value={search.after} onChange={(after) => onSearch({ ...search, after })} />
        <Day label="Before" value={search.before} onChange={(before) => onSearch({ ...search, before })} />
        <p className="text-sm text-muted">Days begin at 00:00 UTC.</p>
      </fieldset>
      <Button size="form" className="lg:hidden" onClick={onClose}>
        Show the results
      </Button>
    </aside>
  );
}

/** Who may have written something: those who did come first, then those with whom one talks. */
function usePeople(authors: readonly Author[]): Author[] {
  const me = useQuery(meQuery).data;
  const partners = useQuery(partnersQuery).data ?? [];
  const all: Author[] = [
    ...authors,
    ...partners,
    ...(me?.agents ?? []).map(({ name, display_name }) => ({ name, display_name, kind: "agent" as const })),
    ...(me ? [{ name: me.user.username, display_name: me.user.display_name, kind: "user" as const }] : []),
  ];
  const seen = new Set<string>();
  return all.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** A list of which the beginning is shown, and what is chosen. */
function Part({ title, rows, isWhole }: { title: string; rows: Array<{ isChosen: boolean; row: ReactNode }>; isWhole?: boolean }) {
  const [isAll, setAll] = useState(isWhole ?? false);
  const shown = rows.filter(({ isChosen }, at) => isAll || isChosen || at < SHOWN);
  const rest = rows.length - shown.length;
  return (
    <fieldset className="min-w-0">
      <legend className="pb-1 text-sm font-semibold text-muted">{title}</legend>
      <ul>{shown.map(({ row }) => row)}</ul>
      {rest > 0 ? (
        <button type="button" onClick={() => setAll(true)} className="min-h-6 text-accent hover:underline pointer-coarse:min-h-11">
          {rest} more
        </button>
      ) : null}
    </fieldset>
  );
}

function Row({ name, icon, standing, onChange, children }: {
  name: string;
  icon?: ReactNode;
  standing: Standing;
  onChange: (standing: Standing) => void;
  children: ReactNode;
}) {
  const isOut = standing === "out";
  return (
    <li className="flex min-h-7 items-center gap-2 pointer-coarse:min-h-11">
      <label className="flex min-h-6 min-w-0 flex-1 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" className="shrink-0" checked={standing === "in"} onChange={() => onChange(standing === "in" ? "off" : "in")} />
        {icon ? (
          <span aria-hidden="true" className="flex w-5 shrink-0 justify-center text-muted">
            {icon}
          </span>
        ) : null}
        <span className={classes("truncate", isOut && "text-rejected line-through")}>{children}</span>
      </label>
      <button
        type="button"
        aria-pressed={isOut}
        aria-label={`Leave out ${name}`}
        title={isOut ? "Left out" : "Leave out"}
        onClick={() => onChange(isOut ? "off" : "out")}
        className="inline-flex h-6 min-w-6 shrink-0 items-center justify-center rounded-sm text-sm text-muted hover:text-fg aria-pressed:text-rejected pointer-coarse:size-11"
      >
        <Ban size={14} aria-hidden="true" />
      </button>
    </li>
  );
}

/** A day. It counts when one is done with it: while one types, it is none. */
function Day({ label, value, onChange }: { label: string; value: string | undefined; onChange: (day: string | undefined) => void }) {
  const shown = /^\d{4}-\d{2}-\d{2}/.exec(value ?? "")?.[0] ?? "";
  const commit = (day: string) => {
    if (day !== shown) onChange(day || undefined);
  };
  return (
    <label className="flex items-center gap-2">
      <span className="w-14 shrink-0">{label}</span>
      <input
        key={shown}
        type="date"
        defaultValue={shown}
        onBlur={(event) => commit(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit(event.currentTarget.value);
        }}
        className={INPUT}
      />
    </label>
  );
}
