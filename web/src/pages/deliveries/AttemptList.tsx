import { Check, CircleX } from "lucide-react";

import { answerOf, took } from "../../agents/webhooks/words";
import type { Attempt, Delivery } from "../../api/webhooks";
import { dateTime } from "../../lib/time";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
import { classes } from "../../ui/classes";
import { pausesOf } from "./attempts";

const DAY_MS = 86_400_000;
const DEAD_DAYS = 30;

const isSuccess = ({ status }: Attempt) => status !== null && status !== undefined && status >= 200 && status < 300;

/** The attempts: time, answer and duration. */
export function AttemptList({ delivery }: { delivery: Delivery }) {
  const pauses = pausesOf(delivery.attempts);
  const last = delivery.attempts.at(-1);
  return (
    <section aria-label="Attempts" className="flex flex-col gap-1">
      <h3 className="text-sm text-muted">Attempts</h3>
      {delivery.attempts.length === 0 ? <p>No attempts yet.</p> : null}
      <ol>
        {delivery.attempts.map((attempt, at) => (
          <li key={`${attempt.at} ${at}`} className="grid grid-cols-[4rem_1rem_minmax(0,1fr)_auto] items-baseline gap-x-2 py-0.5">
            <span className="text-right text-sm text-muted">{pauses[at]}</span>
            {isSuccess(attempt) ? (
              <Check size={14} aria-hidden="true" className="self-center text-approved" />
            ) : (
              <CircleX size={14} aria-hidden="true" className="self-center text-rejected" />
            )}
            <span className="[overflow-wrap:anywhere]">
              <span className={classes("font-medium", isSuccess(attempt) ? "text-approved" : "text-rejected")}>
                <Shown text={answerOf(attempt)} most={MOST_OF_LINE} />
              </span>{" "}
              <span className="whitespace-nowrap text-muted">{took(attempt.duration_ms)}</span>
            </span>
            <Time at={attempt.at} as="second" />
          </li>
        ))}
      </ol>
      {delivery.status === "pending" && delivery.next_attempt_at ? (
        <p className="text-sm text-muted">
          Next attempt at <Time at={delivery.next_attempt_at} as="second" />.
        </p>
      ) : null}
      {delivery.status === "dead" && last ? (
        <p className="text-sm text-muted">
          No more attempts. You can retry this delivery until {dateTime(new Date(Date.parse(last.at) + DEAD_DAYS * DAY_MS).toISOString())}.
        </p>
      ) : null}
    </section>
  );
}
