import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { source } from "./source";

const SourceDialog = lazy(() => import("./SourceDialog"));
const HistoryDialog = lazy(() => import("./HistoryDialog"));

/** The exact text of a message, or its history, over whatever page it was opened on. */
export function SourceHost() {
  const open = useStore(source);
  if (!open) return null;
  const close = () => source.set(null);
  return (
    <Suspense>
      {open.part === "source" ? <SourceDialog message={open.message} onClose={close} /> : <HistoryDialog message={open.message} onClose={close} />}
    </Suspense>
  );
}
