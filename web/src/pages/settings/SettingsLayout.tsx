import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { Page } from "../../ui/Page";
import { SETTINGS } from "./sections";

/** The settings of the person, with a list of them at the side. */
export function SettingsLayout() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const section = SETTINGS.find((one) => path.startsWith(one.to)) ?? SETTINGS[0];
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the list is a line that scrolls; the one that is open is in sight.
    list.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [section.to]);
  return (
    // A new page for each: its title is announced.
    <Page key={section.to} title={section.label} subtitle="Settings" isFlush>
      <div className="flex min-h-0 flex-1 max-md:flex-col">
        <nav
          ref={list}
          aria-label="Settings"
          className="w-48 shrink-0 border-r border-line p-3 max-md:w-full max-md:overflow-x-auto max-md:border-r-0 max-md:border-b max-md:py-1"
        >
          <ul className="flex flex-col max-md:flex-row">
            {SETTINGS.map((one) => (
              <li key={one.to}>
                <Link
                  to={one.to}
                  className="flex h-7 items-center rounded-md px-2 whitespace-nowrap text-muted hover:bg-panel hover:text-fg aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-fg pointer-coarse:h-11"
                >
                  {one.label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
          <Outlet />
        </div>
      </div>
    </Page>
  );
}
