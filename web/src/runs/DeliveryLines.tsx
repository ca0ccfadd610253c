import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { type Delivery, deliveryQuery, oneRunQuery, runsQuery } from "../api/runs";
import type { Me, Message } from "../api/types";
import { Badge } from "../ui/Badge";
import { StateBadge } from "../ui/StateBadge";
import { RunLine } from "./RunLine";
import { isAskedAbout, ownDeliveries } from "./shownDelivery";
import { useSecond } from "./useSecond";
import { notStartedWords, spanWords } from "./words";

/** What a message has started: a line for each of the person's agents that got it. */
export default function DeliveryLines({ message, me }: { message: Message; me: Me }) {
  const [now] = useState(() => Date.now());
  const isAsked = isAskedAbout(message, now);
  // The event stream says when it changes.
  const delivery = useQuery({ ...deliveryQuery(message.id), enabled: isAsked, staleTime: Number.POSITIVE_INFINITY, retry: false });
  const shown = delivery.data ? ownDeliveries(delivery.data, me) : [];
  if (shown.length === 0) {
    if (delivery.isLoading || message.channel || message.workflow_state === "proposed") return null;
    // Without a run, the reactions of the agent say what it does.
    return (
      <p className="mt-1">
        <StateBadge state={message.workflow_state} />
      </p>
    );
  }
  // In a direct message, everybody knows whom it is about.
  const isNamed = shown.length > 1 || Boolean(message.channel);
  return (
    <ul aria-label="Started runs" className="mt-1 flex max-w-[80ch] flex-col gap-1">
      {shown.map((item) => (
        <li key={item.recipient}>
          <DeliveryLine item={item} message={message} name={isNamed ? item.recipient : undefined} />
        </li>
      ))}
    </ul>
  );
}

function DeliveryLine({ item, message, name }: { item: Delivery; message: Message; name?: string }) {
  if (item.state === "woken" && item.run_id) return <LineOfRun id={item.run_id} agent={item.recipient} name={name} />;
  if (item.state === "not_woken") {
    return (
      <p className="flex flex-wrap items-center gap-x-2 text-muted">
        <Badge colour="warning" icon="!">
          {name ? `@${name}: not started` : "Not started"}
        </Badge>
        <span>{notStartedWords(item.reason)}</span>
        {item.reason === "acting_off" ? (
          <Link to="/automation" className="inline-flex min-h-6 items-center text-accent hover:underline">
            Details
          </Link>
        ) : null}
      </p>
    );
  }
  return <Waiting since={message.created_at} reason={item.reason} name={name} />;
}

function Waiting({ since, reason, name }: { since: string; reason?: string | null; name?: string }) {
  const now = useSecond(true);
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-muted">
      <Badge icon="○">
        {name ? `@${name}: waiting` : "Waiting"} <span className="font-normal">· {spanWords(now - Date.parse(since))}</span>
      </Badge>
      <span>{notStartedWords(reason)}</span>
    </p>
  );
}

/** All lines of an agent share one list of its latest runs. Only a run that is not in it is asked for alone. */
function LineOfRun({ id, agent, name }: { id: number; agent: string; name?: string }) {
  const latest = useQuery({ ...runsQuery({ agent }), staleTime: Number.POSITIVE_INFINITY });
  const found = latest.data?.items.find((run) => run.id === id);
  // A run that is newer than the list comes with the next load of the list.
  const isOlder = latest.data !== undefined && !found && id < (latest.data.items[0]?.id ?? 0);
  const alone = useQuery({ ...oneRunQuery(id), enabled: isOlder, retry: false }).data;
  const run = found ?? alone;
  return run ? <RunLine run={run} name={name} /> : null;
}
