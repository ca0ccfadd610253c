import { Suspense, lazy, useEffect } from "react";

import { whenIdle } from "../lib/afterPaint";
import { useStore } from "../lib/store";
import { making } from "./making";

const newChannel = () => import("../pages/channel/NewChannelDialog");
const DIALOGS = {
  channel: lazy(newChannel),
  agent: lazy(() => import("../agents/NewAgentDialog").then((part) => ({ default: part.NewAgentDialog }))),
};

/** The dialogs that make something. They are loaded when the page has nothing else to do, or somebody wants them. */
export function Making() {
  const wanted = useStore(making);
  useEffect(() => whenIdle(() => void newChannel().catch(() => undefined)), []);
  if (!wanted) return null;
  const Dialog = DIALOGS[wanted];
  return (
    <Suspense>
      <Dialog onClose={() => making.set(null)} />
    </Suspense>
  );
}
