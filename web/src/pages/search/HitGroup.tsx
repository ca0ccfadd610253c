import { Link } from "@tanstack/react-router";
import { Hash } from "lucide-react";

import { linkTo } from "../../messages/place";
import { Avatar } from "../../ui/Avatar";
import { HitRow } from "./HitRow";
import type { Group } from "./groups";

/** The results in one conversation. */
export function HitGroup({ group, isOnly, onOnly }: { group: Group; isOnly: boolean; onOnly: () => void }) {
  const { place, hits } = group;
  const kind = hits[0]!.from.name === place.name ? hits[0]!.from.kind : "user";
  const name = place.kind === "channel" ? `#${place.name}` : `@${place.name}`;
  return (
    <section aria-label={name} className="border-b border-line py-2 last-of-type:border-b-0">
      <div className="flex min-h-7 items-center gap-2 px-6 max-md:px-4">
        <h2 className="min-w-0 flex-1 truncate font-semibold">
          <Link {...linkTo(place, {})} className="inline-flex min-h-6 items-center gap-2 hover:underline">
            {place.kind === "channel" ? <Hash size={14} aria-hidden="true" /> : <Avatar name={place.name} kind={kind} size="small" />}
            {place.name}
          </Link>
          {place.kind === "dm" ? (
            <span className="ml-2 font-normal text-muted">{place.as ? `direct messages of @${place.as}` : "direct messages"}</span>
          ) : null}
        </h2>
        {place.kind === "channel" && !isOnly ? (
          <button type="button" onClick={onOnly} aria-label={`Only ${name}`} className="min-h-6 shrink-0 text-accent hover:underline pointer-coarse:min-h-11">
            Only this channel
          </button>
        ) : null}
      </div>
      <ul>
        {hits.map((hit) => (
          <HitRow key={hit.id} hit={hit} place={place} />
        ))}
      </ul>
    </section>
  );
}
