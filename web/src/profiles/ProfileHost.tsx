import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { openedProfile } from "./opened";

const ProfileCard = lazy(() => import("./ProfileCard"));

/** The card of the person or agent whose name was clicked, on whichever page. */
export function ProfileHost() {
  const opened = useStore(openedProfile);
  return opened ? (
    <Suspense>
      <ProfileCard opened={opened} />
    </Suspense>
  ) : null;
}
