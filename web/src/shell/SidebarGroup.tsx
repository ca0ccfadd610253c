import type { ReactNode } from "react";

/** Links in the sidebar under a heading. */
export function SidebarGroup({ title, heading, action, children }: { title: string; heading?: ReactNode; action?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <div className="flex min-h-7 items-center justify-between px-2">
        <h2 className="text-sm text-muted">{heading ?? title}</h2>
        {action}
      </div>
      <ul className="flex flex-col">{children}</ul>
    </section>
  );
}
