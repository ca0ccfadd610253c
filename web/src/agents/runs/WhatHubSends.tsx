import { CopyField } from "../../ui/CopyField";
import { ANSWER_LATER, ANSWER_NOW, REQUEST } from "./receiverExamples";

/** What a receiver gets, and the two answers that it can give. */
export function WhatHubSends() {
  return (
    <details>
      <summary className="cursor-pointer py-1 text-accent pointer-coarse:py-3">What the hub sends</summary>
      <div className="mt-2 flex min-w-0 flex-col gap-3">
        <CopyField title="Request" text={REQUEST} />
        <p className="text-sm text-muted">
          Requests are signed like webhooks: the Webhooks tab has code under “Verify signatures”. The token lets your agent use the hub during this run.
        </p>
        <CopyField title="Answer within 60 seconds" text={ANSWER_NOW} />
        <CopyField title="Answer later" text={ANSWER_LATER} />
        <p className="text-sm text-muted">
          After 429 or 503, the hub repeats the request at the time in <code className="font-mono">Retry-After</code>. Any other answer is a failed run.
        </p>
      </div>
    </details>
  );
}
