import type { ActionStats } from "../../api/traces";

/** The most actions that are counted here; the filter lists all of them. */
const SHOWN_ACTIONS = 12;

/** How often each action was called. */
export function ActionCounts({ stats, chosen, onChoose }: {
  stats: ActionStats[];
  chosen: string | undefined;
  onChoose: (action: string | undefined) => void;
}) {
  if (stats.length === 0) return null;
  const rest = stats.length - SHOWN_ACTIONS;
  return (
    <ul aria-label="Calls per action" className="flex flex-wrap gap-2 px-6 py-4 max-md:px-4">
      {stats.slice(0, SHOWN_ACTIONS).map((one) => (
        <li key={one.action}>
          <button
            type="button"
            aria-pressed={one.action === chosen}
            title={`On average ${one.average_duration_ms} ms, at most ${one.longest_duration_ms} ms`}
            onClick={() => onChoose(one.action === chosen ? undefined : one.action)}
            className="inline-flex h-7 items-center gap-2 rounded-md border border-line px-2 hover:bg-panel aria-pressed:border-accent aria-pressed:bg-selected pointer-coarse:h-11"
          >
            <span className="font-mono text-sm">{one.action}</span>
            <span className="tabular-nums">{one.count.toLocaleString()}</span>
            {one.errors ? <span className="text-sm text-rejected tabular-nums">{one.errors.toLocaleString()} failed</span> : null}
          </button>
        </li>
      ))}
      {rest > 0 ? <li className="flex h-7 items-center text-muted">and {rest} more in the filter list</li> : null}
    </ul>
  );
}
