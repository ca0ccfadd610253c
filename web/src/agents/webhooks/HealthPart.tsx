import type { Delivery, Webhook } from "../../api/webhooks";
import { Facts } from "../../ui/Facts";
import { Meter } from "../../ui/Meter";
import { Time } from "../../ui/Time";
import { MOST_FAILURES, healthOf, took } from "./words";

/** Failures in a row, and the results of the latest deliveries. */
export function HealthPart({ webhook, latest }: { webhook: Webhook; latest: readonly Delivery[] | undefined }) {
  const health = latest && healthOf(latest);
  return (
    <section aria-label="Health" className="flex flex-col gap-2 p-4 max-lg:border-b max-lg:border-line lg:border-r lg:border-line">
      <h3 className="font-semibold">Health</h3>
      <p>
        <span className="text-lg font-semibold tabular-nums">{webhook.consecutive_failures}</span>{" "}
        <span className="text-muted">of {MOST_FAILURES} failures in a row</span>
      </p>
      <Meter label="Failures in a row" value={webhook.consecutive_failures} max={MOST_FAILURES} />
      <p className="text-sm text-muted">
        At {MOST_FAILURES} Stoa disables the webhook and notifies you. A success resets the count. Tests do not count.
      </p>
      <Facts
        items={[
          ["Delivered", health?.ended ? `${health.delivered} of the last ${health.ended}` : "none yet"],
          ["Median response", health?.medianMs === null || health === undefined ? "unknown" : took(health.medianMs)],
          ["Pending", webhook.waiting.toLocaleString()],
          ["Dead letters", webhook.dead_letters.toLocaleString()],
          ["Last success", webhook.last_delivery_at ? <Time key="last" at={webhook.last_delivery_at} /> : "never"],
          ["Rate limit", "60 per minute per agent"],
        ]}
      />
    </section>
  );
}
