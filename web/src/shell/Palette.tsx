import { Suspense, lazy, useEffect } from "react";

import { whenIdle } from "../lib/afterPaint";
import { useStore } from "../lib/store";
import { palette, paletteText } from "./palette";

const load = () => import("./PaletteDialog");
const PaletteDialog = lazy(load);

export function Palette() {
  useEffect(() => whenIdle(() => void load().catch(() => undefined)), []);
  return useStore(palette) ? (
    <Suspense fallback={<Waiting />}>
      <PaletteDialog />
    </Suspense>
  ) : null;
}

/** Takes what one types while the palette is on its way. */
function Waiting() {
  const text = useStore(paletteText);
  return (
    <div
      role="dialog"
      aria-label="Search or jump to"
      className="fixed top-[12vh] left-1/2 z-50 w-[640px] max-w-[95vw] -translate-x-1/2 rounded-lg border border-line bg-bg px-4 shadow-lg"
    >
      <input
        autoFocus
        aria-label="Search or jump to"
        autoComplete="off"
        value={text}
        onChange={(event) => paletteText.set(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && palette.set(false)}
        className="h-12 w-full bg-transparent outline-none"
      />
    </div>
  );
}
