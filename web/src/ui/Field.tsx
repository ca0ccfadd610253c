import { type ReactNode, useId } from "react";

import { classes } from "./classes";

/** How everything looks that one writes into or chooses from. */
export const INPUT =
  "h-9 w-full min-w-0 rounded-md border border-control bg-bg px-2 disabled:opacity-50 pointer-coarse:h-11 " +
  "aria-invalid:border-rejected";

interface Wiring {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** Something to fill in, with its name, what it is about, and why it is not right. */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string;
  className?: string;
  children: (wiring: Wiring) => ReactNode;
}) {
  const id = useId();
  const about = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className={classes("flex min-w-0 flex-col gap-1", className)}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": about || undefined, "aria-invalid": error ? true : undefined })}
      {hint ? (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      ) : null}
      {error ? (
        <p id={`${id}-error`} role="alert" className="text-sm text-rejected">
          {error}
        </p>
      ) : null}
    </div>
  );
}

/** Why something was refused, beside what was asked for. */
export function Refusal({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="text-rejected">
      {children}
    </p>
  );
}
