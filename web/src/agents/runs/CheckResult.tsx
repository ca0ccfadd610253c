import { Check as CheckIcon, Clock, OctagonX } from "lucide-react";

import type { Check } from "../../api/runs";
import { outcomeOf, stepDetail, stepName, verdictOf } from "./checkWords";

const OUTCOMES = {
  passed: { icon: <CheckIcon size={14} />, colour: "text-approved" },
  waits: { icon: <Clock size={14} />, colour: "text-amber" },
  stops: { icon: <OctagonX size={14} />, colour: "text-rejected" },
};

/** Each question that the hub asks before a message starts a run, and its answer. */
export function CheckResult({ check, agent }: { check: Check; agent: string }) {
  return (
    <>
      <ol aria-label="Steps of the check" className="flex flex-col gap-1">
        {check.steps.map((step) => {
          const outcome = outcomeOf(step);
          const { icon, colour } = OUTCOMES[outcome];
          return (
            <li key={step.name} className="flex items-baseline gap-2">
              <span aria-hidden="true" className={`self-center ${colour}`}>
                {icon}
              </span>
              <span className="min-w-0 flex-1">
                <span className="font-medium">{stepName(step)}</span> <span className="text-muted">{stepDetail(step)}</span>
              </span>
              <span className={`text-sm ${colour}`}>{outcome}</span>
            </li>
          );
        })}
      </ol>
      <p className="rounded-md bg-panel px-3 py-2">
        <strong>{verdictOf(check, agent)}</strong> {check.detail}
      </p>
    </>
  );
}
