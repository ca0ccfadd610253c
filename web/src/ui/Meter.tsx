/** A mark on a meter: how much is asked for, and by whom. */
export interface Tick {
  at: number;
  title: string;
}

/** How much there is of something, between nothing and all. The number stands beside it. */
export function Meter({ label, value, max = 1, ticks = [] }: { label: string; value: number; max?: number; ticks?: readonly Tick[] }) {
  const part = (number: number) => (max > 0 ? Math.min(1, Math.max(0, number / max)) * 100 : 0);
  return (
    <div className="relative w-full">
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={value}
        className="h-2 w-full overflow-hidden rounded-sm bg-line"
      >
        <div className="h-full rounded-sm bg-meter" style={{ width: `${part(value)}%` }} />
      </div>
      {ticks.map((tick) => (
        <span
          key={tick.at}
          aria-hidden="true"
          title={tick.title}
          className="absolute -top-1 h-4 w-0.5 -translate-x-1/2 bg-accent"
          style={{ left: `${part(tick.at)}%` }}
        />
      ))}
    </div>
  );
}
