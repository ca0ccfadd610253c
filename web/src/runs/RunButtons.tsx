import { useQueryClient } from "@tanstack/react-query";
import { RotateCw, Square } from "lucide-react";
import { useState } from "react";

import { Problem, sentenceOf } from "../api/problem";
import { type Run, cancelRun, isActive, retryRun } from "../api/runs";
import { Button } from "../ui/Button";
import { toast } from "../ui/Toasts";

/** The hub's hints are for programs, so where the page knows a way, it names that. */
const RETRY_FAULTS: Record<string, string> = {
  acting_off: "All agents are stopped. Resume them first.",
  not_reactive: "Messages do not start this agent. Choose “Start a run” in its Runs tab.",
};

const retryFault = (error: unknown) => (error instanceof Problem && RETRY_FAULTS[error.code]) || sentenceOf(error);

interface RunButtonProps {
  run: Run;
  size?: "row" | "usual";
  /** Called with the new run. */
  onRetried?: (run: Run) => void;
}

/** Stops a run that is under way, or retries one that did not succeed. */
export function RunButton({ run, size = "row", onRetried }: RunButtonProps) {
  if (isActive(run)) return <StopButton run={run} size={size} />;
  return run.status === "succeeded" ? null : <RetryButton run={run} size={size} onRetried={onRetried} />;
}

export function StopButton({ run, size }: RunButtonProps) {
  const client = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const stop = () => {
    // A program may take some seconds to end. Until then the run is shown as running.
    setAsked(true);
    void cancelRun(client, run.id).catch((error: unknown) => {
      setAsked(false);
      toast(sentenceOf(error), { isError: true });
    });
  };
  const word = run.status === "queued" || run.status === "deferred" ? "Cancel" : isAsked ? "Stopping…" : "Stop";
  return (
    <Button size={size} disabled={isAsked} aria-label={`${word} run ${run.id}`} onClick={stop}>
      <Square size={12} aria-hidden="true" />
      {word}
    </Button>
  );
}

export function RetryButton({ run, size, onRetried }: RunButtonProps) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const retry = async () => {
    setBusy(true);
    try {
      const next = await retryRun(client, run.id);
      toast(`Run ${next.id} repeats run ${run.id}.`);
      onRetried?.(next);
    } catch (error) {
      toast(retryFault(error), { isError: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size={size} disabled={isBusy} aria-label={`Retry run ${run.id}`} onClick={() => void retry()}>
      <RotateCw size={12} aria-hidden="true" />
      Retry
    </Button>
  );
}
