import type { ReactNode } from "react";

/** Links in the sidebar under a heading. */
export function SidebarGroup({ title, heading, action, isList = true, children }: {
  title: string;
  heading?: ReactNode;
  action?: ReactNode;
  /** Its links are rows of one list; otherwise they are in a list already. */
  isList?: boolean;
  children: ReactNode;
}) {
  return (
    <section aria-label={title}>
      <div className="flex min-h-7 items-center justify-between px-2">
        <h2 className="text-sm text-muted">{heading ?? title}</h2>
        {action}
      </div>
      {isList ? <ul className="flex flex-col">{children}</ul> : children}
    </section>
  );
}
