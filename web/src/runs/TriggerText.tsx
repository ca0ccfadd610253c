import type { Run } from "../api/runs";
import { MOST_OF_LINE, Shown } from "../ui/Shown";
import { reasonWords, triggerWords } from "./words";

/** The message that started a run, and what the run does now or why it did not succeed. */
export function TriggerText({ run }: { run: Run }) {
  const reason = run.status === "succeeded" ? undefined : reasonWords(run.reason);
  return (
    <span className="block min-w-0 [overflow-wrap:anywhere] sm:min-w-56">
      {run.trigger_preview ? <Shown text={run.trigger_preview} most={MOST_OF_LINE} /> : null}{" "}
      <span className="text-sm text-muted">
        {triggerWords(run)}
        {run.attempt > 1 ? `, attempt ${run.attempt}` : ""}
      </span>
      {run.status === "running" && run.last_step ? (
        <span className="line-clamp-1 font-mono text-sm break-all text-muted">
          <Shown text={run.last_step} most={160} />
        </span>
      ) : null}
      {reason ? <span className="block text-sm text-muted">{reason}</span> : null}
    </span>
  );
}
