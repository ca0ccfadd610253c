import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { useIdle } from "../lib/useIdle";
import { link } from "../live/link";
import { LightboxHost } from "../messages/LightboxHost";
import { SourceHost } from "../messages/SourceHost";
import { ToastList } from "../ui/ToastList";
import { laterPart } from "../ui/laterPart";
import { Making } from "./Making";
import { Palette } from "./Palette";
import { shortcutHelp } from "./help";

const ShortcutHelp = lazy(() => import("./ShortcutHelp").then((part) => ({ default: part.ShortcutHelp })));

const InboxWatch = laterPart(() => import("../pages/inbox/InboxWatch").then((part) => part.InboxWatch));

/** What may lie over every page, and what is counted for all of them. */
export function Overlays() {
  const hasHelp = useStore(shortcutHelp);
  const isIdle = useIdle();
  // What is counted while the stream is open stays right.
  const isLive = useStore(link) === "live";
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
      {isIdle && isLive ? <InboxWatch /> : null}
    </>
  );
}
