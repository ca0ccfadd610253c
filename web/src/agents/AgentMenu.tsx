import { Ellipsis } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { AgentMenuProps } from "./AgentMenuList";

const AgentMenuList = lazy(() => import("./AgentMenuList"));

const LOOK =
  "inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11";

/** The button of an agent's menu. The menu is loaded when somebody first wants it. */
export function AgentMenu(props: AgentMenuProps) {
  const label = `More actions for @${props.agent.name}`;
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-label={label}
      aria-haspopup="menu"
      className={LOOK}
      onClick={() => setWanted(true)}
    >
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <AgentMenuList {...props} label={label} look={LOOK} />
    </Suspense>
  ) : (
    button
  );
}
