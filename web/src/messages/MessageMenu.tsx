import { Ellipsis } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { Message } from "../api/types";

const MessageMenuList = lazy(() => import("./MessageMenuList"));

export const MENU_LABEL = "Message actions";
export const MENU_BUTTON =
  "inline-flex size-6 items-center justify-center rounded-sm text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11";

/** The button of a message's menu. Menus are much to load, and most messages never show theirs. */
export function MessageMenu(props: { message: Message; onThread?: (id: number) => void }) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button type="button" aria-label={MENU_LABEL} aria-haspopup="menu" className={MENU_BUTTON} onClick={() => setWanted(true)}>
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <MessageMenuList {...props} />
    </Suspense>
  ) : (
    button
  );
}
