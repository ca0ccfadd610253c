import type { Check } from "../../api/runs";

type Step = Check["steps"][number];

const NAMES: Record<string, string> = {
  acting_off: "Stop switch",
  quarantined: "Quarantine",
  paused: "Pause",
  mode: "On a message",
  sender: "Sender",
  subprocess_not_allowed: "Commands",
  sender_limit: "Runs per sender",
  depth: "Agents in a row",
  damped: "Exchanges",
  budget: "Budget",
  others_budget: "Share for others",
  cooldown: "Rest between runs",
  sequential: "One run at a time",
};

/** A step of a newer hub keeps the hub's name. */
export const stepName = ({ name }: Step) => NAMES[name] ?? name;

/** What the hub found, without the name of the step again: `4 of 4` and not `depth 4 of 4`. */
export const stepDetail = ({ detail }: Step) => detail.replace(/^(?:mode|depth|others:) /, "");

/** A message waits for the end of a pause or of a run. Everything else stops it. */
export function outcomeOf({ name, passed }: Step): "passed" | "waits" | "stops" {
  if (passed) return "passed";
  return name === "cooldown" || name === "sequential" ? "waits" : "stops";
}

/** The result in a few words. */
export function verdictOf(check: Check, agent: string): string {
  if (check.state === "woken") return `@${agent} would start.`;
  return check.state === "deferred" ? `@${agent} would wait, then run.` : `@${agent} would not start.`;
}
