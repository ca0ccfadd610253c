import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { referencesQuery } from "../../api/attachments";
import { meQuery } from "../../api/queries";
import type { Me, Message } from "../../api/types";
import { linkTo, placeOf } from "../../messages/place";

/** The most messages that one cell links to. */
const MOST_LINKS = 3;

/** Links to the messages with the file, among those that were searched. */
export function ReferenceCell({ sum }: { sum: string }) {
  const references = useQuery(referencesQuery);
  const me = useQuery(meQuery).data;
  if (references.isError) return <span className="text-muted">unknown</span>;
  if (!references.data) return null;
  const messages = references.data.messages.get(sum) ?? [];
  if (messages.length === 0) return <span className="text-muted">{references.data.isWhole ? "not sent" : "no recent message"}</span>;
  return (
    <span className="flex flex-wrap gap-x-2">
      {messages.slice(0, MOST_LINKS).map((message) => (
        <ReferenceLink key={message.id} message={message} me={me} />
      ))}
      {messages.length > MOST_LINKS ? <span className="text-muted">and {messages.length - MOST_LINKS} more</span> : null}
    </span>
  );
}

function ReferenceLink({ message, me }: { message: Message; me: Me | undefined }) {
  const place = placeOf(message, me);
  return (
    <Link {...linkTo(place, { at: message.id })} className="inline-flex min-h-6 items-center whitespace-nowrap text-accent hover:underline">
      {place.kind === "channel" ? "#" : "@"}
      {place.name}
    </Link>
  );
}
