import { useQuery } from "@tanstack/react-query";
import { Check, Circle, LoaderCircle, X } from "lucide-react";
import type { ReactNode } from "react";

import { grantsQuery } from "../api/account";
import { keysOfAgentQuery } from "../api/agents";
import { clockTime, exactTime } from "../lib/time";
import { Time } from "../ui/Time";
import { type Contact, surfaceOf, usedWith } from "./contact";

const SHOWN = 8;

/** What the agent does, as it does it. */
export function LiveCalls({ name, contact }: { name: string; contact: Contact }) {
  const { isConnected, calls } = contact;
  const left = calls.length - SHOWN;
  return (
    <section aria-label={`Activity of @${name}`} className="rounded-lg border border-line px-4 py-1">
      <ul className="divide-y divide-line">
        <Line icon={isConnected ? "done" : "waiting"}>
          <span role="status">
            {isConnected ? (
              <>
                @{name} is <strong className="text-approved">connected</strong>
              </>
            ) : (
              `Waiting for a client to connect as @${name}…`
            )}
          </span>
          {isConnected ? <LastSeen name={name} contact={contact} /> : null}
        </Line>
        {left > 0 ? <li className="py-2 text-muted">{left} earlier {left === 1 ? "call" : "calls"}</li> : null}
        {calls.slice(-SHOWN).map((call) => (
          <Line key={call.id} icon={call.error ? "failed" : "done"} at={call.created_at}>
            called <code className="font-mono text-sm">{call.action}</code>
            {call.error ? <span className="text-rejected"> · {call.error}</span> : null}{" "}
            <span className="text-muted">· {call.duration_ms} ms</span>
          </Line>
        ))}
        {isConnected ? (
          <Line icon="idle">
            <span className="text-muted">{calls.length ? "The next call appears here." : "Its calls appear here."}</span>
          </Line>
        ) : null}
      </ul>
    </section>
  );
}

const LOOKS_AGAIN_MS = 15_000;

/** When the agent was last heard of, by which way and with what. */
function LastSeen({ name, contact: { seenAt, last } }: { name: string; contact: Contact }) {
  const grants = useQuery({ ...grantsQuery, refetchInterval: LOOKS_AGAIN_MS }).data ?? [];
  const keys = useQuery({ ...keysOfAgentQuery(name), refetchInterval: LOOKS_AGAIN_MS }).data ?? [];
  if (seenAt === null) return null;
  const surface = last && surfaceOf(last);
  const client = usedWith(seenAt, [
    ...grants.filter(({ agent }) => agent === name).map((grant) => ({ label: grant.client.name, at: grant.last_used_at })),
    ...keys.map((key) => ({ label: `the key “${key.name}”`, at: key.last_used_at })),
  ]);
  return (
    <span className="block text-sm text-muted">
      {last ? "Last called" : "Last seen"} <Time at={seenAt} />
      {surface ? ` through ${surface}` : ""}
      {client ? `, with ${client}` : ""}
    </span>
  );
}

const ICONS = {
  done: <Check size={16} className="text-approved" />,
  failed: <X size={16} className="text-rejected" />,
  idle: <Circle size={16} className="text-muted" />,
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
