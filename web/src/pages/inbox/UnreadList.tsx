import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hash } from "lucide-react";

import { partnersQuery } from "../../api/queries";
import type { Unread } from "../../api/types";
import { Avatar } from "../../ui/Avatar";
import { TITLES } from "./titles";

/** Links to the conversations with unread messages. */
export function UnreadList({ unread }: { unread: readonly Unread[] }) {
  const partners = useQuery(partnersQuery).data;
  const partnerOf = (name: string) => partners?.find((one) => one.name === name);
  return (
    <section aria-label={TITLES.unread}>
      <h2 className="px-6 pt-4 pb-2 text-sm font-semibold text-muted max-md:px-4">{TITLES.unread}</h2>
      <ul className="flex flex-wrap gap-2 px-6 max-md:px-4">
        {unread.map((one) => (
          <li key={`${one.kind} ${one.name}`}>
            <Link
              to={one.kind === "channel" ? "/channels/$name" : "/dm/$name"}
              params={{ name: one.name }}
              className="inline-flex h-8 items-center gap-2 rounded-md border border-line px-3 hover:bg-panel pointer-coarse:h-11"
            >
              {one.kind === "channel" ? (
                <Hash size={14} aria-label="Channel" className="text-muted" />
              ) : (
                <Avatar
                  name={one.name}
                  kind={partnerOf(one.name)?.kind ?? "user"}
                  displayName={partnerOf(one.name)?.display_name}
                  size="small"
                />
              )}
              {one.name}
              <span className="text-muted tabular-nums">
                {one.unread_count >= 100 ? "100+" : one.unread_count}
                <span className="sr-only"> unread</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
