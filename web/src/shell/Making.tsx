import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { making } from "./making";

const DIALOGS = {
  channel: lazy(() => import("../pages/channel/NewChannelDialog")),
  agent: lazy(() => import("../agents/NewAgentDialog").then((part) => ({ default: part.NewAgentDialog }))),
};

/** The dialogs that make something. They are loaded when somebody first wants them. */
export function Making() {
  const wanted = useStore(making);
  if (!wanted) return null;
  const Dialog = DIALOGS[wanted];
  return (
    <Suspense>
      <Dialog onClose={() => making.set(null)} />
    </Suspense>
  );
}
