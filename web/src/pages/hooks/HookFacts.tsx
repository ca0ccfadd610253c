import { Link } from "@tanstack/react-router";

import type { Hook } from "../../api/hooks";
import { Facts } from "../../ui/Facts";
import { Shown } from "../../ui/Shown";
import { Time } from "../../ui/Time";
import { HookTarget } from "./HookTarget";
import { KINDS } from "./words";

/** So much of a template is drawn in place. */
const MOST_OF_TEMPLATE = 1000;

/** The settings of a hook. */
export function HookFacts({ hook }: { hook: Hook }) {
  return (
    <Facts
      items={[
        ["Kind", KINDS[hook.kind].label],
        ["Posts to", <HookTarget key="target" hook={hook} />],
        ...(hook.kind === "url" ? [] : [["Events", hook.events.length ? <Events key="events" events={hook.events} /> : "all"] as const]),
        [
          "Template",
          hook.template ? (
            <span key="template" className="font-mono text-sm break-words whitespace-pre-wrap">
              <Shown text={hook.template} most={MOST_OF_TEMPLATE} title="Template" />
            </span>
          ) : (
            "default message"
          ),
        ],
        [
          "Messages",
          <Link key="messages" to="/search" search={{ q: `from:${hook.author}` }} className="inline-flex min-h-6 items-center text-accent hover:underline">
            Search messages
          </Link>,
        ],
        ["Created", <Time key="created" at={hook.created_at} />],
      ]}
    />
  );
}

function Events({ events }: { events: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {events.map((event) => (
        <code key={event} className="rounded-sm bg-panel px-1.5 font-mono text-sm break-all">
          <Shown text={event} />
        </code>
      ))}
    </span>
  );
}
