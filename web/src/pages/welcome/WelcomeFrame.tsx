import { Check } from "lucide-react";
import type { ReactNode } from "react";

import { STEPS, STEP_TITLES, type WelcomeStep } from "../../agents/welcome";
import { Page } from "../../ui/Page";
import { classes } from "../../ui/classes";

interface WelcomeFrameProps {
  at: WelcomeStep;
  notes: Partial<Record<WelcomeStep, string>>;
  /** An earlier step that the person left unfinished. */
  open?: WelcomeStep;
  children: ReactNode;
}

/** The list of steps beside the current one. */
export function WelcomeFrame({ at, notes, open, children }: WelcomeFrameProps) {
  const current = STEPS.indexOf(at);
  return (
    <Page title="Add an agent" subtitle={`Step ${current + 1} of ${STEPS.length}: ${STEP_TITLES[at]}`}>
      <div className="flex min-h-full">
        <ol aria-label="Steps" className="w-60 shrink-0 border-r border-line bg-panel p-6 max-lg:hidden">
          {STEPS.map((step, index) => (
            <li key={step} aria-current={index === current ? "step" : undefined} className="flex gap-3 pb-5">
              <span
                aria-hidden="true"
                className={classes(
                  "flex size-6 shrink-0 items-center justify-center rounded-full border text-sm",
                  index < current && (step === open ? "border-amber text-amber" : "border-approved text-approved"),
                  index === current && "border-accent bg-accent text-on-accent",
                  index > current && "border-control text-muted",
                )}
              >
                {index < current && step !== open ? <Check size={14} /> : index + 1}
              </span>
              <span className="min-w-0 pt-0.5">
                <span className={index === current ? "block font-semibold" : "block text-muted"}>{STEP_TITLES[step]}</span>
                <span className="block truncate text-sm text-muted">{notes[step]}</span>
              </span>
            </li>
          ))}
        </ol>
        <div className="mx-auto w-full max-w-3xl min-w-0 p-6 max-md:px-4">{children}</div>
      </div>
    </Page>
  );
}
