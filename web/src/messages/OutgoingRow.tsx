import { useQuery } from "@tanstack/react-query";

import { meQuery } from "../api/queries";
import type { Place } from "../api/types";
import { Avatar } from "../ui/Avatar";
import { Attachments } from "./Attachments";
import { Markdown } from "./Markdown";
import { OutgoingError } from "./OutgoingError";
import type { Outgoing } from "./outbox";

/** A message that is not there yet: on its way, or held up. */
export function OutgoingRow({ outgoing, place }: { outgoing: Outgoing; place: Place }) {
  const me = useQuery(meQuery).data?.user;
  return (
    <article aria-label="Unsent message" className="flex gap-3 px-6 py-2 max-md:px-4">
      <div className="w-8 shrink-0">
        {me ? <Avatar name={me.username} kind="user" displayName={me.display_name} /> : null}
      </div>
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <span className="font-semibold">{me?.display_name || me?.username}</span>
          {outgoing.error ? null : <span className="text-muted">sending…</span>}
        </div>
        {outgoing.request.body ? <Markdown text={outgoing.request.body} className="text-muted" /> : null}
        <Attachments files={outgoing.files ?? []} />
        {outgoing.error ? <OutgoingError outgoing={outgoing} place={place} /> : null}
      </div>
    </article>
  );
}
