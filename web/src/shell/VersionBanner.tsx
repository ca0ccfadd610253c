import { useEffect } from "react";

import { useStore } from "../lib/store";
import { link } from "../live/link";
import { Button } from "../ui/Button";
import { askForBuild, build, followBuild } from "./build";

/** Says when the hub has another page than the one that runs here. */
export function VersionBanner() {
  const { first, latest } = useStore(build);
  const isLive = useStore(link) === "live";
  useEffect(followBuild, []);
  useEffect(() => {
    // A hub that was away may have come back as a newer one.
    if (isLive) void askForBuild();
  }, [isLive]);
  return first !== latest ? (
    <div role="status" className="flex shrink-0 flex-wrap items-center gap-3 border-b border-line bg-panel px-6 py-1.5 max-md:pl-14">
      <span>A new version is available. Reload (drafts are kept).</span>
      <Button size="row" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  ) : null;
}
