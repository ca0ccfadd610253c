import type { Channel } from "../api/types";
import { Meter } from "../ui/Meter";
import { classes } from "../ui/classes";
import { type Threshold, thresholdsOf } from "./trust";

interface Score {
  action_type: string;
  score: number;
  /** How often it has changed, where that is known. */
  adjustments?: number;
}

/** How far an agent is trusted with each kind of work, next to the thresholds of the channels. */
export function TrustRows({ trust, channels, isNarrow }: { trust: readonly Score[]; channels: readonly Channel[]; isNarrow?: boolean }) {
  return (
    <ul className={classes("flex flex-col", isNarrow ? "gap-1" : "mt-2 gap-3")}>
      {trust.map((one) => (
        <TrustRow key={one.action_type} trust={one} thresholds={thresholdsOf(one.action_type, channels)} isNarrow={isNarrow} />
      ))}
    </ul>
  );
}

function TrustRow({ trust, thresholds, isNarrow }: { trust: Score; thresholds: Threshold[]; isNarrow?: boolean }) {
  const asks = thresholds.map(({ at, channels }) => `${at} in ${channels.map((channel) => `#${channel}`).join(", ")}`);
  return (
    <li
      className={classes(
        "grid items-center gap-x-3",
        isNarrow
          ? "grid-cols-[5rem_minmax(0,1fr)_2.5rem]"
          : "grid-cols-[8rem_minmax(0,1fr)_9.5rem] max-sm:grid-cols-[minmax(0,1fr)_auto]",
      )}
    >
      <code title={trust.action_type} className="truncate font-mono text-sm">
        {trust.action_type}
      </code>
      <div className={isNarrow ? undefined : "max-sm:order-last max-sm:col-span-2"}>
        <Meter
          label={`Trust in ${trust.action_type}`}
          value={trust.score}
          ticks={thresholds.map(({ at }, place) => ({ at, title: asks[place]! }))}
        />
        {asks.length ? <span className="sr-only">Required: {asks.join("; ")}</span> : null}
      </div>
      <span className="text-right whitespace-nowrap tabular-nums">
        <strong className={isNarrow ? "font-normal" : undefined}>{trust.score.toFixed(2)}</strong>
        {isNarrow || trust.adjustments === undefined ? null : (
          <span className="text-muted">
            {" "}
            {trust.adjustments} {trust.adjustments === 1 ? "adjustment" : "adjustments"}
          </span>
        )}
      </span>
    </li>
  );
}
