import { useEffect, useState } from "react";

import { useStore } from "../lib/store";
import { link } from "../live/link";

/** A short gap is nobody's business. */
const SHOWN_AFTER_MS = 3000;

export function ConnectionBanner() {
  const now = useStore(link);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (now === "live") return setShown(false);
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [now]);
  return isShown ? (
    <div role="status" className="shrink-0 border-b border-line bg-panel px-6 py-1.5 text-amber">
      Can't reach the server. Reconnecting… Drafts are saved.
    </div>
  ) : null;
}
