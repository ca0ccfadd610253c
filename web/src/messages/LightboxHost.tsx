import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { lightbox } from "./lightbox";

const Lightbox = lazy(() => import("./Lightbox"));

export function LightboxHost() {
  return useStore(lightbox) ? (
    <Suspense>
      <Lightbox />
    </Suspense>
  ) : null;
}
