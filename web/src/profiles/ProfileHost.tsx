import { Suspense, lazy, useEffect } from "react";

import { useStore } from "../lib/store";
import { openProfile, openedProfile } from "./opened";

const ProfileCard = lazy(() => import("./ProfileCard"));

/** The card of the person or agent whose name was clicked, on whichever page. */
export function ProfileHost() {
  const opened = useStore(openedProfile);
  useEffect(() => {
    // Before the row that the name is in, which may do something else on a click.
    document.addEventListener("click", openProfile, true);
    return () => document.removeEventListener("click", openProfile, true);
  }, []);
  return opened ? (
    <Suspense>
      <ProfileCard opened={opened} />
    </Suspense>
  ) : null;
}
