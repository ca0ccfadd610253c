import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { automationQuery } from "../api/automation";

const LOOKS_AGAIN_MS = 60_000;

/** Says on every page that nothing starts by itself. */
export function StoppedBanner() {
  const automation = useQuery({ ...automationQuery, refetchInterval: LOOKS_AGAIN_MS }).data;
  if (!automation?.stopped && !automation?.hub_stopped) return null;
  return (
    <div role="status" className="flex shrink-0 flex-wrap items-center gap-x-3 border-b border-line bg-panel px-6 py-1.5 text-amber max-md:pl-14">
      <span>
        {automation.stopped
          ? "You stopped all your agents. Nothing starts until you resume."
          : "The operator stopped all agents on this hub. Messages are kept but start nothing."}
      </span>
      <Link to="/automation" className="inline-flex min-h-6 items-center text-accent underline pointer-coarse:min-h-11">
        {automation.stopped ? "Resume" : "Details"}
      </Link>
    </div>
  );
}
