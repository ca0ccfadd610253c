import { useEffect, useState } from "react";

import { whenIdle } from "./afterPaint";

/** Whether the page has had time to draw what matters more. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => whenIdle(() => setIdle(true)), []);
  return isIdle;
}
