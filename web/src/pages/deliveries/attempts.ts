import type { Attempt } from "../../api/webhooks";
import { duration } from "../../lib/time";

/** How long after the one before each attempt was: `at once`, `+5 s`. */
export function pausesOf(attempts: readonly Pick<Attempt, "at">[]): string[] {
  return attempts.map(({ at }, place) => {
    const before = attempts[place - 1];
    return before ? `+${duration(Date.parse(at) - Date.parse(before.at))}` : "immediately";
  });
}
