import { Link } from "@tanstack/react-router";
import { CornerDownRight, Paperclip } from "lucide-react";
import { useMemo } from "react";

import type { Hit } from "../../api/search";
import type { Place } from "../../api/types";
import { appearance } from "../../lib/appearance";
import { fullName } from "../../lib/names";
import { useStore } from "../../lib/store";
import { clockTime, dayName, exactTime } from "../../lib/time";
import { isWork } from "../../messages/work";
import { linkTo } from "../../messages/place";
import { AuthorName, hasProfile } from "../../ui/AuthorName";
import { Avatar } from "../../ui/Avatar";
import { MOST_OF_LINE, Shown } from "../../ui/Shown";
import { StateBadge } from "../../ui/StateBadge";
import { beginningOfParts, cutOf, partsOf, withoutMarks } from "./snippet";

/** A message that was found, and the way to where it was said. */
export function HitRow({ hit, place }: { hit: Hit; place: Place }) {
  useStore(appearance, ({ zone }) => zone);
  const { parts, cut } = useMemo(() => {
    const found = partsOf(hit.snippet);
    return { parts: beginningOfParts(withoutMarks(found)), cut: cutOf(hit.body, found) };
  }, [hit.snippet, hit.body]);
  const replies = `${hit.reply_count} ${hit.reply_count === 1 ? "reply" : "replies"}`;
  return (
    <li>
      <article
        aria-label={`${fullName(hit.from)}, message ${hit.id}`}
        className="group relative flex gap-3 overflow-clip px-6 py-2 focus-within:bg-selected hover:bg-panel max-md:px-4 compact:py-1"
      >
        <span aria-hidden="true" className="absolute inset-y-0 left-0 hidden w-[3px] bg-accent group-focus-within:block" />
        <div data-profile={hasProfile(hit.from) ? hit.from.name : undefined} className="size-8 shrink-0 data-profile:cursor-pointer">
          <Avatar name={hit.from.name} kind={hit.from.kind} displayName={hit.from.display_name} />
        </div>
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-baseline gap-x-2 md:pr-36">
            <AuthorName from={hit.from} />
            <time dateTime={hit.created_at} title={exactTime(hit.created_at)} className="text-muted">
              {dayName(hit.created_at)} {clockTime(hit.created_at)}
            </time>
            {hit.reply_to ? (
              <Link
                {...linkTo(place, { at: hit.id, thread: hit.reply_to })}
                aria-label={`in a thread: message ${hit.id}`}
                className="inline-flex min-h-6 items-center text-sm text-accent hover:underline"
              >
                in a thread
              </Link>
            ) : null}
          </div>
          {hit.subject ? (
            <p className="max-w-[80ch] font-semibold [overflow-wrap:anywhere] [unicode-bidi:plaintext]">
              <Shown text={hit.subject} title="All of the subject" />
            </p>
          ) : null}
          <p className="max-w-[80ch] [overflow-wrap:anywhere] whitespace-pre-line">
            {cut.atStart ? "… " : ""}
            {parts.map((part, at) =>
              part.isFound ? (
                <mark key={at} className="font-semibold">
                  <Shown text={part.text} />
                </mark>
              ) : (
                <Shown key={at} text={part.text} />
              ),
            )}
            {cut.atEnd ? " …" : ""}
          </p>
          {isWork(hit) || hit.attachments.length || hit.reply_count ? (
            <div className="mt-1 flex flex-wrap items-center gap-2">
              {isWork(hit) ? <StateBadge state={hit.workflow_state} /> : null}
              {hit.attachments.map((file) => (
                <span key={file.sha256} className="inline-flex h-5 max-w-64 items-center gap-1 rounded-sm border border-line px-1.5 text-xs text-muted">
                  <Paperclip size={12} aria-hidden="true" className="shrink-0" />
                  <span className="truncate">
                    <Shown text={file.filename} most={MOST_OF_LINE} />
                  </span>
                </span>
              ))}
              {hit.reply_count ? (
                <Link {...linkTo(place, { at: hit.id, thread: hit.id })} className="inline-flex min-h-6 items-center text-sm text-accent hover:underline">
                  {replies}
                </Link>
              ) : null}
            </div>
          ) : null}
          <Link
            {...linkTo(place, { at: hit.id })}
            data-open
            className="inline-flex min-h-6 items-center gap-1 text-sm whitespace-nowrap text-muted group-focus-within:text-fg hover:text-fg hover:underline max-md:-mb-1.5 max-md:flex max-md:w-fit md:absolute md:top-1.5 md:right-6 pointer-coarse:min-h-11"
          >
            <CornerDownRight size={14} aria-hidden="true" />
            Open in context
          </Link>
        </div>
      </article>
    </li>
  );
}
