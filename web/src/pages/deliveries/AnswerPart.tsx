import { answerOf, took } from "../../agents/webhooks/words";
import type { Attempt } from "../../api/webhooks";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";

/** The hub keeps the first 4 KiB. */
const MOST_OF_ANSWER = 4096;

/** The beginning of the last answer, as plain text. */
export function AnswerPart({ attempts }: { attempts: readonly Attempt[] }) {
  const last = attempts.at(-1);
  if (!last?.status) return null;
  return (
    <section aria-label="Last response" className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-baseline gap-2">
        <h3 className="flex-1 text-sm text-muted">Last response</h3>
        <span className="text-sm text-muted">
          <Shown text={answerOf(last)} most={MOST_OF_LINE} /> in {took(last.duration_ms)}
        </span>
      </div>
      {last.response_excerpt ? (
        <pre
          tabIndex={0}
          role="region"
          aria-label="Body of the last response"
          className="max-h-[40vh] overflow-auto rounded-md border border-line bg-panel p-3 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          <Shown text={last.response_excerpt} most={MOST_OF_ANSWER} title="Last response" />
        </pre>
      ) : (
        <p className="text-muted">
          {last.response_excerpt === "" ? "The response has no body." : "Response bodies from private networks are not stored."}
        </p>
      )}
    </section>
  );
}
