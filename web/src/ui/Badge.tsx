import type { ReactNode } from "react";

import { classes } from "./classes";

const COLOURS = {
  plain: "text-muted",
  good: "text-approved",
  busy: "text-in-progress",
  warning: "text-amber",
  bad: "text-rejected",
};

/** A state in a word, with its picture. */
export function Badge({ colour = "plain", icon, children }: { colour?: keyof typeof COLOURS; icon?: ReactNode; children: ReactNode }) {
  return (
    <span
      className={classes(
        "inline-flex h-5 items-center gap-1 rounded-sm bg-[color-mix(in_srgb,currentColor_9%,var(--bg))] px-1.5 text-xs font-medium whitespace-nowrap",
        COLOURS[colour],
      )}
    >
      {icon ? <span aria-hidden="true">{icon}</span> : null}
      {children}
    </span>
  );
}
