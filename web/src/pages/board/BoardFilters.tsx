import { Clock } from "lucide-react";

import { Button } from "../../ui/Button";
import { claimantOf } from "../../workflow/moves";
import { isNarrowed } from "./filter";
import type { BoardFilter } from "./search";
import type { Card } from "./useColumns";

const SELECT = "h-7 max-w-48 rounded-md border border-control bg-bg px-1.5 font-medium pointer-coarse:h-11";

/** Names to choose from, with the chosen one even where it is not there any more. */
function namesOf(names: Iterable<string | undefined>, chosen: string | undefined): string[] {
  const all = new Set([...names, chosen].filter((name) => name !== undefined));
  return [...all].sort();
}

function Choose({ label, none, value, names, onChange }: {
  label: string;
  none: string;
  value: string | undefined;
  names: string[];
  onChange: (name: string | undefined) => void;
}) {
  return (
    <label className="inline-flex items-center gap-1.5">
      <span className="text-muted">{label}</span>
      <select value={value ?? ""} onChange={(event) => onChange(event.target.value || undefined)} className={SELECT}>
        <option value="">{none}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What of the board is shown. */
export function BoardFilters({ all, filter, setFilter, channels }: {
  all: readonly Card[];
  filter: BoardFilter;
  setFilter: (change: BoardFilter) => void;
  channels: readonly string[];
}) {
  const stale = all.filter(({ standing }) => standing.isStale).length;
  return (
    <div role="group" aria-label="Filter" className="flex flex-wrap items-center gap-2 max-sm:shrink-0 max-sm:flex-nowrap">
      {channels.length > 0 ? (
        <Choose
          label="Channel"
          none="all"
          value={filter.channel}
          names={namesOf(channels, filter.channel)}
          onChange={(channel) => setFilter({ channel })}
        />
      ) : null}
      <Choose
        label="Author"
        none="anyone"
        value={filter.by}
        names={namesOf(all.map(({ message }) => message.from.name), filter.by)}
        onChange={(by) => setFilter({ by })}
      />
      <Choose
        label="Claimed by"
        none="anyone"
        value={filter.claimed}
        names={namesOf(all.map(({ message }) => claimantOf(message)?.name), filter.claimed)}
        onChange={(claimed) => setFilter({ claimed })}
      />
      <Button
        aria-pressed={filter.stale === true}
        title="Stale: no change for longer than the channel allows"
        onClick={() => setFilter({ stale: filter.stale ? undefined : true })}
        className="aria-pressed:border-accent aria-pressed:bg-selected"
      >
        <Clock size={14} aria-hidden="true" className={stale ? "text-amber" : "text-muted"} />
        Only stale {stale}
      </Button>
      {isNarrowed(filter) ? (
        <Button look="plain" onClick={() => setFilter({ by: undefined, claimed: undefined, channel: undefined, stale: undefined })}>
          Clear
        </Button>
      ) : null}
    </div>
  );
}
