import { Ellipsis } from "lucide-react";
import { Suspense, lazy, useState } from "react";

import type { AgentMenuProps } from "./AgentMenuList";

const AgentMenuList = lazy(() => import("./AgentMenuList"));

export const agentMenuLabel = (name: string) => `More actions for @${name}`;
export const AGENT_MENU_BUTTON =
  "inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-panel hover:text-fg pointer-coarse:size-11";

/** The button of an agent's menu. The menu is loaded when somebody first wants it. */
export function AgentMenu(props: AgentMenuProps) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-label={agentMenuLabel(props.agent.name)}
      aria-haspopup="menu"
      className={AGENT_MENU_BUTTON}
      onClick={() => setWanted(true)}
    >
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return isWanted ? (
    <Suspense fallback={button}>
      <AgentMenuList {...props} />
    </Suspense>
  ) : (
    button
  );
}
