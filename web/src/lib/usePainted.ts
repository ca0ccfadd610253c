import { useEffect, useState } from "react";

import { afterPaint } from "./afterPaint";
import { store, useStore } from "./store";

const isPainted = store(false);

/** Whether the page has painted once. What the person came for is drawn before what is around it. */
export function usePainted(): boolean {
  const [wasPainted] = useState(isPainted.get());
  const now = useStore(isPainted);
  useEffect(() => (wasPainted ? undefined : afterPaint(() => isPainted.set(true))), [wasPainted]);
  return wasPainted || now;
}
