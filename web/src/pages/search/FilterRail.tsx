import { useQuery } from "@tanstack/react-query";
import { Hash, Lock, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";

import { channelsQuery } from "../../api/queries";
import type { Author } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { Button, IconButton } from "../../ui/Button";
import { STATE_ORDER, StateBadge } from "../../ui/StateBadge";
import { classes } from "../../ui/classes";
import { DayField } from "./DayField";
import { FilterList, FilterOption } from "./FilterList";
import type { Search } from "./address";
import { type ListFilter, type Standing, itemsOf, standingOf, withStanding } from "./query";
import { HAS } from "./suggestions";
import { usePeople } from "./usePeople";

interface FilterRailProps {
  search: Search;
  onSearch: (next: Search) => void;
  /** The authors of the results. */
  authors: readonly Author[];
  /** On a narrow screen the open rail covers the results. */
  isOpen: boolean;
  onClose: () => void;
}

/** The filters of a search as lists to choose from. */
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
    // A chosen name stays in the list, even if nothing has that name, so that the person can remove it.
    const unknown = chosen.filter((name) => !known.some((one) => one.name === name)).map((name) => ({ name, label: name, icon: undefined }));
    return [...unknown, ...known].map(({ name, label, icon }) => ({
      name,
      isChosen: chosen.includes(name),
      row: (
        <FilterOption
          name={name}
          icon={icon}
          standing={standingOf(search[filter], name)}
          onChange={(standing) => change(filter, name, standing)}
        >
          {label ?? name}
        </FilterOption>
      ),
    }));
  };
  const mine = channels.toSorted((one, other) => Number(other.is_member) - Number(one.is_member));
  return (
    <aside
      aria-label="Filters"
      data-scroller
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
        <IconButton label="Close filters" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </div>
      <FilterList
        title="Channel"
        rows={rowsOf(
          "channel",
          mine.map(({ name, public: isPublic }) => ({ name, icon: isPublic ? <Hash size={14} /> : <Lock size={14} /> })),
        )}
      />
      <FilterList
        title="From"
        rows={rowsOf(
          "agent",
          people.map(({ name, kind, display_name }) => ({
            name,
            icon: <Avatar name={name} kind={kind} displayName={display_name} size="small" />,
          })),
        )}
      />
      <FilterList
        title="State"
        rows={rowsOf(
          "state",
          STATE_ORDER.map((state) => ({ name: state, label: <StateBadge state={state} isBare /> })),
        )}
        isWhole
      />
      <FilterList title="Has" rows={rowsOf("has", HAS)} isWhole />
      <fieldset className="flex min-w-0 flex-col gap-2">
        <legend className="pb-1 text-sm font-semibold text-muted">Date</legend>
        <DayField label="From" value={search.after} onChange={(after) => onSearch({ ...search, after })} />
        <DayField label="Before" value={search.before} onChange={(before) => onSearch({ ...search, before })} />
        <p className="text-sm text-muted">Days start at 00:00 UTC.</p>
      </fieldset>
      <Button size="form" className="lg:hidden" onClick={onClose}>
        Show results
      </Button>
    </aside>
  );
}
