import type { ReactNode } from "react";

import { classes } from "../ui/classes";

const LOOKS = {
  busy: "border-in-progress/40 bg-in-progress/5",
  bad: "border-rejected/40 bg-rejected/5",
};

/** A status in one line. */
export function StatusLine({ children }: { children: ReactNode }) {
  return <div className="flex min-h-6 flex-wrap items-center gap-x-2">{children}</div>;
}

/** A status that needs more than a line: what can be done about it, and below that its last step or its reason. */
export function StatusBox({ look, head, buttons, children }: { look: keyof typeof LOOKS; head: ReactNode; buttons?: ReactNode; children?: ReactNode }) {
  return (
    <div className={classes("rounded-md border", LOOKS[look])}>
      <div className="flex min-h-8 flex-wrap items-center gap-x-2 px-2 py-0.5">
        {head}
        {buttons ? <span className="ml-auto flex flex-wrap items-center gap-x-2">{buttons}</span> : null}
      </div>
      {children ? <div className="border-t border-line px-2 py-1 text-sm text-muted [overflow-wrap:anywhere]">{children}</div> : null}
    </div>
  );
}
