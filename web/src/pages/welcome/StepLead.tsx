import type { ReactNode } from "react";

/** The title of a step and what it is about. */
export function StepLead({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div>
      <h2 className="text-xl font-semibold">{title}</h2>
      <p className="max-w-[70ch] text-muted">{children}</p>
    </div>
  );
}
