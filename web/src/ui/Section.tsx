import type { ReactNode } from "react";

/** A part of a page with a title of its own. */
export function Section({ title, description, action, children }: {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="flex flex-col gap-4 border-b border-line px-6 py-6 last:border-b-0 max-md:px-4">
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-48">
          <h2 className="text-lg font-semibold">{title}</h2>
          {description ? <p className="max-w-[80ch] text-muted">{description}</p> : null}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
