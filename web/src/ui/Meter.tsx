/** How much there is of something, between nothing and all. The number stands beside it. */
export function Meter({ label, value, max = 1 }: { label: string; value: number; max?: number }) {
  const part = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
      className="h-2 w-full overflow-hidden rounded-sm bg-line"
    >
      <div className="h-full rounded-sm bg-meter" style={{ width: `${part * 100}%` }} />
    </div>
  );
}
