import { useMemo } from "react";

import { repeatKey } from "../api/client";

/** A key for a request that may be repeated. Another request gets another key. */
export function useRepeatKey(request: unknown): string {
  const text = JSON.stringify(request);
  return useMemo(() => repeatKey(), [text]);
}
