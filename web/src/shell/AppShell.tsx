import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { meQuery } from "../api/queries";
import { lightbox } from "../messages/lightbox";
import { source } from "../messages/source";
import { openProfile, openedProfile } from "../profiles/opened";
import { classes } from "../ui/classes";
import { laterPart } from "../ui/laterPart";
import { DrawerButton } from "./DrawerButton";
import { Sidebar } from "./Sidebar";
import { shortcutHelp } from "./help";
import { making } from "./making";
import { MeProvider } from "./me";
import { palette } from "./palette";
import { useShortcuts } from "./shortcuts";
import { useTitle } from "./title";

const Banners = laterPart(() => import("./later").then((part) => part.Banners));
const Overlays = laterPart(() => import("./later").then((part) => part.Overlays));

/** What is around every page. */
export function AppShell() {
  useShortcuts();
  useTitle();
  const me = useQuery(meQuery).data;
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // What lies over a page goes with it, whichever way one leaves.
  useEffect(() => {
    setOpen(false);
    palette.set(false);
    making.set(null);
    lightbox.set(null);
    source.set(null);
    openedProfile.set(null);
    shortcutHelp.set(false);
  }, [path]);
  useEffect(() => {
    // Before the row that a name is in, which may do something else on a click.
    document.addEventListener("click", openProfile, true);
    return () => document.removeEventListener("click", openProfile, true);
  }, []);
  const drawer = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    drawer.current?.querySelector<HTMLElement>("button, a")?.focus();
    // On a wide window there is no drawer that one could close.
    const wide = matchMedia("(min-width: 48rem)");
    const close = () => setOpen(false);
    wide.addEventListener("change", close);
    return () => wide.removeEventListener("change", close);
  }, [isOpen]);
  return (
    <div className="flex h-full max-md:flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-bg focus:p-2"
      >
        Skip to content
      </a>
      <div className="max-md:hidden">
        <Sidebar />
      </div>
      <DrawerButton ref={opener} isOpen={isOpen} onOpen={() => setOpen(true)} />
      <div className={classes("fixed inset-0 z-40 md:hidden", !isOpen && "hidden")}>
        <button type="button" aria-label="Close menu" className="absolute inset-0 bg-shade" onClick={() => setOpen(false)} />
        <div
          ref={drawer}
          className="absolute inset-y-0 left-0"
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            setOpen(false);
            opener.current?.focus();
          }}
        >
          {isOpen ? <Sidebar /> : null}
        </div>
      </div>
      <main id="main" inert={isOpen} className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Banners />
        <div className="relative flex min-h-0 flex-1">
          <MeProvider value={me}>
            <Outlet />
          </MeProvider>
        </div>
      </main>
      <Overlays />
    </div>
  );
}
