import { useQueryClient } from "@tanstack/react-query";

import type { Place } from "../api/types";
import { Button } from "../ui/Button";
import { type Outgoing, discard, retry } from "./outbox";

/** Why a message could not be sent, and what one can do about it. */
export function OutgoingError({ outgoing, place }: { outgoing: Outgoing; place: Place }) {
  const client = useQueryClient();
  return (
    <div role="alert" className="mt-1 flex flex-wrap items-center gap-2">
      <span className="text-rejected">{outgoing.error}</span>
      {outgoing.isRefused || outgoing.isOld ? null : <span className="text-muted">It is sent when the hub is back.</span>}
      <Button size="row" onClick={() => retry(client, place, outgoing)}>
        {outgoing.isOld ? "Send now" : "Retry"}
      </Button>
      <Button size="row" onClick={() => void import("./rewrite").then(({ rewrite }) => rewrite(place, outgoing))}>
        Edit
      </Button>
      <Button size="row" look="plain" onClick={() => discard(outgoing.key)}>
        Discard
      </Button>
    </div>
  );
}
