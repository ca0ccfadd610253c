import { useSamePerson } from "./samePerson";
import { useLive } from "./useLive";
import { ConnectionBanner } from "./ConnectionBanner";
import { StoppedBanner } from "./StoppedBanner";
import { VersionBanner } from "./VersionBanner";

/** Keeps the page up to date, and says above it what concerns all of it. */
export function Banners() {
  useLive();
  useSamePerson();
  return (
    <>
      <VersionBanner />
      <ConnectionBanner />
      <StoppedBanner />
    </>
  );
}
