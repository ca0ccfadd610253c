import { Suspense, lazy } from "react";

import { useStore } from "../lib/store";
import { palette } from "./palette";

const PaletteDialog = lazy(() => import("./PaletteDialog"));

export function Palette() {
  return useStore(palette) ? (
    <Suspense>
      <PaletteDialog />
    </Suspense>
  ) : null;
}
