import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { whole } from "../ui/whole";
import { source } from "./source";

const SourceDialog = lazy(() => import("./SourceDialog"));
const HistoryDialog = lazy(() => import("./HistoryDialog"));
const WholeDialog = lazy(() => import("./WholeDialog"));

/** The exact text of a message, its history, or all of a long text, over whatever page it was opened on. */
export function SourceHost() {
  const open = useStore(source);
  const long = useStore(whole);
  const close = () => source.set(null);
  return (
    <>
      <Suspense>
        {open?.part === "source" ? <SourceDialog message={open.message} onClose={close} /> : null}
        {open?.part === "history" ? <HistoryDialog message={open.message} onClose={close} /> : null}
      </Suspense>
      {/* It may open from one of these, which stays while this is loaded. */}
      <Suspense>{long ? <WholeDialog shown={long} onClose={() => whole.set(null)} /> : null}</Suspense>
    </>
  );
}
