import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Hook, hookRequestsQuery } from "../../api/hooks";
import { meQuery, messageQuery } from "../../api/queries";
import { linkTo, placeOf } from "../../messages/place";
import { Badge } from "../../ui/Badge";
import { type Column, DataTable } from "../../ui/DataTable";
import { Section } from "../../ui/Section";
import { Shown } from "../../ui/Shown";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { type KeyedRequest, keyed } from "./requests";
import { OUTCOMES } from "./words";

/** So much of an event or an id is drawn, in plain characters. */
const MOST = 60;

const COLUMNS: Array<Column<KeyedRequest>> = [
  { title: "Time", cell: (request) => <Time at={request.received_at} /> },
  {
    title: "Outcome",
    cell: ({ outcome }) => <Badge colour={OUTCOMES[outcome].colour}>{OUTCOMES[outcome].label}</Badge>,
  },
  { title: "Response", isWideOnly: true, cell: ({ outcome }) => <span className="whitespace-nowrap">{OUTCOMES[outcome].status}</span> },
  { title: "Event", cell: ({ event }) => <Foreign text={event} /> },
  { title: "Delivery", isWideOnly: true, cell: ({ delivery_id: id }) => <Foreign text={id} /> },
  {
    title: "Result",
    cell: ({ outcome, message_id: id }) =>
      id ? <MessageLink id={id} /> : <span className="block min-w-40 text-muted">{OUTCOMES[outcome].reason}</span>,
  },
];

/** The latest requests to a hook, and why each did or did not become a message. */
export function HookRequests({ hook }: { hook: Hook }) {
  const requests = useQuery(hookRequestsQuery(hook.id));
  return (
    <Section title="Requests" description="The last 20 requests to this hook.">
      {requests.isError ? <Failed error={requests.error} retry={() => void requests.refetch()} /> : null}
      {requests.isLoading ? <Skeleton rows={3} /> : null}
      {requests.data?.items.length === 0 ? (
        <Empty title="No requests yet">Send one from the other service. It appears here within seconds.</Empty>
      ) : null}
      {requests.data?.items.length ? (
        <DataTable label="Requests" columns={COLUMNS} rows={keyed(requests.data.items)} keyOf={(request) => request.key} />
      ) : null}
    </Section>
  );
}

/** A text of the other service, which can be anything. */
function Foreign({ text }: { text: string | null | undefined }) {
  if (!text) return <span className="text-muted">none</span>;
  return (
    <code className="block w-max max-w-48 font-mono text-sm break-words">
      <Shown text={text} most={MOST} />
    </code>
  );
}

/** The way to the message. Messages to the agents of others cannot be seen. */
function MessageLink({ id }: { id: number }) {
  const message = useQuery(messageQuery(id));
  const me = useQuery(meQuery).data;
  if (message.isError) return <span className="text-muted">Message not found</span>;
  if (!message.data) return null;
  return (
    <Link
      {...linkTo(placeOf(message.data, me), { at: id })}
      className="inline-flex min-h-6 items-center whitespace-nowrap text-accent hover:underline pointer-coarse:min-h-11"
    >
      Open message
    </Link>
  );
}
