import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { LightboxHost } from "../messages/LightboxHost";
import { SourceHost } from "../messages/SourceHost";
import { ToastList } from "../ui/ToastList";
import { Making } from "./Making";
import { Palette } from "./Palette";
import { shortcutHelp } from "./help";

const ShortcutHelp = lazy(() => import("./ShortcutHelp").then((part) => ({ default: part.ShortcutHelp })));

/** What may lie over every page. */
export function Overlays() {
  const hasHelp = useStore(shortcutHelp);
  return (
    <>
      <Palette />
      <Making />
      <LightboxHost />
      <SourceHost />
      {hasHelp ? (
        <Suspense>
          <ShortcutHelp onClose={() => shortcutHelp.set(false)} />
        </Suspense>
      ) : null}
      <ToastList />
    </>
  );
}
