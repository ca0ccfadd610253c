import { useState } from "react";

import type { DeliveryDetails } from "../../api/webhooks";
import { Button } from "../../ui/Button";
import { JsonView } from "../../ui/JsonView";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";

const MOST_OF_URL = 300;

/** Headers whose value differs at each attempt. */
const MADE_WHEN_SENT: Record<string, string> = { "webhook-timestamp": "time of the attempt" };

/** The request: headers and body. */
export function RequestPart({ delivery }: { delivery: DeliveryDetails }) {
  const [part, setPart] = useState<"body" | "headers">("body");
  const { request } = delivery;
  return (
    <section aria-label="Request" className="flex min-w-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 text-sm text-muted">Request</h3>
        {request ? (
          <div role="group" aria-label="Request view" className="flex gap-1">
            <Button size="row" aria-pressed={part === "body"} className="aria-pressed:bg-selected" onClick={() => setPart("body")}>
              Body
            </Button>
            <Button size="row" aria-pressed={part === "headers"} className="aria-pressed:bg-selected" onClick={() => setPart("headers")}>
              Headers {request.headers.length + 1}
            </Button>
          </div>
        ) : null}
      </div>
      <p className="font-mono text-sm text-muted [overflow-wrap:anywhere]">
        POST <Shown text={request?.url ?? delivery.url} most={MOST_OF_URL} />
      </p>
      {!request ? <p className="text-muted">The body is hidden because you or the agent cannot see the message.</p> : null}
      {request && part === "body" ? <JsonView label="Body if sent now" value={request.body} /> : null}
      {request && part === "headers" ? (
        <dl className="rounded-md border border-line bg-panel p-3 font-mono text-sm [overflow-wrap:anywhere]">
          {request.headers.map(([name = "", value = ""]) => (
            <Header key={name} name={name} value={MADE_WHEN_SENT[name] ?? value} isNote={name in MADE_WHEN_SENT} />
          ))}
          <Header name="webhook-signature" value="hidden: valid for 5 minutes" isNote />
        </dl>
      ) : null}
    </section>
  );
}

function Header({ name, value, isNote }: { name: string; value: string; isNote: boolean }) {
  return (
    <div>
      <dt className="inline">
        <Shown text={name} most={MOST_OF_LINE} />:
      </dt>{" "}
      <dd className={isNote ? "inline font-sans text-muted" : "inline"}>
        <Shown text={value} most={MOST_OF_LINE} />
      </dd>
    </div>
  );
}
