import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";

import { Problem } from "../api/problem";
import { Broken, isGonePart } from "./ErrorBoundary";
import { reloadIfOutdated, retryPages } from "./lazyPage";

const RETRY_EVERY_MS = 5000;

/** Says what went wrong. A failure that may pass is retried from time to time, and when the connection is back. */
export function RootError({ error }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useCallback(() => void retryPages().then(() => router.invalidate()), [router]);
  const isGone = isGonePart(error);
  const isPassing = isGone || (error instanceof Problem && error.isPassing);
  useEffect(() => {
    if (isGone) void reloadIfOutdated();
  }, [isGone]);
  useEffect(() => {
    if (!isPassing) return;
    const timer = setInterval(retry, RETRY_EVERY_MS);
    window.addEventListener("online", retry);
    return () => {
      clearInterval(timer);
      window.removeEventListener("online", retry);
    };
  }, [isPassing, retry]);
  return <Broken error={error} retry={retry} />;
}
