import { type ReactNode, useEffect, useRef } from "react";

import { SearchButton } from "../shell/SearchButton";
import { pageTitle } from "./title";

/** A page: a title that is announced when one comes to it, what belongs beside it, and the rest. */
export function Page({
  title,
  subtitle,
  actions,
  children,
  isFlush,
  header,
  tabs,
  icon,
}: {
  title: ReactNode;
  /** Stands before the title, where there is room. */
  icon?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** Without scrolling of its own: what is in it scrolls by itself. */
  isFlush?: boolean;
  /** Lays out the top of the page itself, around the title. */
  header?: (title: ReactNode) => ReactNode;
  /** Ways to the pages beside this one. They stay in sight. */
  tabs?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = typeof title === "string" ? title : undefined;
  useEffect(() => {
    if (name) pageTitle.set(name);
  }, [name]);
  useEffect(() => {
    // With the next frame: the focus needs to know where everything is, which would be found out twice.
    const frame = requestAnimationFrame(() => {
      // Whoever types or has already chosen a place is not moved. A link has led here, so it has done its work.
      const active = document.activeElement;
      if (active === null || active === document.body || active instanceof HTMLAnchorElement) heading.current?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  const shownTitle = (
    <h1 ref={heading} tabIndex={-1} className={header ? "truncate text-xl font-semibold" : "max-w-full truncate text-lg font-semibold"}>
      {title}
    </h1>
  );
  return (
    <section className="flex h-full min-w-0 flex-1 flex-col">
      {header ? (
        header(shownTitle)
      ) : (
        <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 border-b border-line px-6 max-md:gap-x-1 max-md:pr-1 max-md:pl-14">
          {icon ? <div className="max-md:hidden">{icon}</div> : null}
          {/* On a phone one below the other, so that there is room for what can be done. */}
          <div className="flex min-w-32 flex-1 items-baseline gap-x-3 max-md:flex-col">
            {shownTitle}
            {subtitle ? <div className="max-w-full min-w-0 flex-1 truncate text-muted max-md:text-sm">{subtitle}</div> : null}
          </div>
          <div className="flex items-center gap-2 max-md:gap-0.5">
            <SearchButton />
            {actions}
          </div>
        </header>
      )}
      {tabs}
      {isFlush ? children : <div data-scroller className="min-h-0 flex-1 overflow-y-auto">{children}</div>}
    </section>
  );
}
