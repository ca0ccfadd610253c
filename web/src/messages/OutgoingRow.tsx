import { useQuery, useQueryClient } from "@tanstack/react-query";

import { meQuery } from "../api/queries";
import type { Place } from "../api/types";
import { Avatar } from "../ui/Avatar";
import { Button } from "../ui/Button";
import { Attachments } from "./Attachments";
import { Markdown } from "./Markdown";
import { type Outgoing, discard, retry } from "./outbox";

/** A message that is not there yet: on its way, or held up. */
export function OutgoingRow({ outgoing, place }: { outgoing: Outgoing; place: Place }) {
  const client = useQueryClient();
  const me = useQuery(meQuery).data?.user;
  return (
    <article aria-label="Your message, not sent yet" className="flex gap-3 px-6 py-2 max-md:px-4">
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
        {outgoing.error ? (
          <div role="alert" className="mt-1 flex flex-wrap items-center gap-2">
            <span className="text-rejected">{outgoing.error}</span>
            <Button size="row" onClick={() => retry(client, place, outgoing)}>
              Retry
            </Button>
            <Button size="row" onClick={() => void import("./rewrite").then(({ rewrite }) => rewrite(place, outgoing))}>
              Edit
            </Button>
            <Button size="row" look="plain" onClick={() => discard(outgoing.key)}>
              Discard
            </Button>
          </div>
        ) : null}
      </div>
    </article>
  );
}
