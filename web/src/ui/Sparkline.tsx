import { classes } from "./classes";

const HEIGHT = 24;
const STEP = 4;

/** Numbers over time, as small bars. What they say is in the label; a table has them one by one. */
export function Sparkline({ label, values, className }: { label: string; values: readonly number[]; className?: string }) {
  const most = Math.max(1, ...values);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${values.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={classes("block text-meter", className)}
    >
      <line x1="0" x2={values.length * STEP} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
      {values.map((value, at) => {
        // Few are still more than none.
        const height = value === 0 ? 0 : Math.max(2, (value / most) * (HEIGHT - 1));
        return <rect key={at} x={at * STEP} y={HEIGHT - height} width={STEP - 1} height={height} fill="currentColor" />;
      })}
    </svg>
  );
}
