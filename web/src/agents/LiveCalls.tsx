import { Check, LoaderCircle, X } from "lucide-react";
import type { ReactNode } from "react";

import { clockTime, exactTime } from "../lib/time";
import type { Contact } from "./contact";

const SHOWN = 8;

/** What the agent does, as it does it. */
export function LiveCalls({ name, contact }: { name: string; contact: Contact }) {
  const { isConnected, seenAt, calls } = contact;
  const left = calls.length - SHOWN;
  return (
    <section aria-label={`What @${name} does`} className="rounded-lg border border-line px-4 py-1">
      <ul className="divide-y divide-line">
        <Line icon={isConnected ? "done" : "waiting"} at={isConnected ? seenAt : null}>
          <span role="status">
            {isConnected ? (
              <>
                @{name} is <strong className="text-approved">connected</strong>
              </>
            ) : (
              `Waiting for @${name}…`
            )}
          </span>
        </Line>
        {left > 0 ? <li className="py-2 text-muted">{left} earlier {left === 1 ? "call" : "calls"}</li> : null}
        {calls.slice(-SHOWN).map((call) => (
          <Line key={call.id} icon={call.error ? "failed" : "done"} at={call.created_at}>
            called <code className="font-mono text-sm">{call.action}</code>
            {call.error ? <span className="text-rejected"> · {call.error}</span> : null}{" "}
            <span className="text-muted">· {call.duration_ms} ms</span>
          </Line>
        ))}
        {isConnected && calls.length === 0 ? <Line icon="waiting">Waiting for a call…</Line> : null}
      </ul>
    </section>
  );
}

const ICONS = {
  done: <Check size={16} className="text-approved" />,
  failed: <X size={16} className="text-rejected" />,
  waiting: <LoaderCircle size={16} className="animate-spin text-muted" />,
};

function Line({ icon, at, children }: { icon: keyof typeof ICONS; at?: string | null; children: ReactNode }) {
  return (
    <li className="flex items-center gap-3 py-2">
      <span aria-hidden="true">{ICONS[icon]}</span>
      <span className="min-w-0 flex-1 break-words">{children}</span>
      {at ? (
        <time dateTime={at} title={exactTime(at)} className="text-muted tabular-nums">
          {clockTime(at)}
        </time>
      ) : null}
    </li>
  );
}
