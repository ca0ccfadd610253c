import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, getRouteApi, useRouterState } from "@tanstack/react-router";
import { Hash, SlidersHorizontal } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";

import { Problem } from "../../api/problem";
import { meQuery } from "../../api/queries";
import { HITS, searchQuery } from "../../api/search";
import type { Author } from "../../api/types";
import { hasSingleKeys } from "../../lib/appearance";
import { linkTo } from "../../messages/place";
import { SEARCH_FIELD } from "../../shell/shortcuts";
import { Avatar } from "../../ui/Avatar";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyField";
import { Page } from "../../ui/Page";
import { Empty, Failed, Skeleton } from "../../ui/States";
import { classes } from "../../ui/classes";
import { FilterRail } from "./FilterRail";
import { HitRow } from "./HitRow";
import { SearchField } from "./SearchField";
import { FILTERS, type Search } from "./address";
import { type Group, groupsOf } from "./groups";
import { chipsOf, isBlank } from "./query";
import { HELP } from "./suggestions";

const route = getRouteApi("/search");

/** Finds messages. All that is asked is in the address, so a search can be given to somebody else. */
export function SearchPage() {
  const address = route.useSearch();
  const navigate = route.useNavigate();
  const me = useQuery(meQuery).data;
  const here = useRouterState({ select: (state) => state.location.href });
  const [isRailOpen, setRailOpen] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const { shown = 0, ...search } = address;
  const isAsked = !isBlank(search);
  const found = useInfiniteQuery({ ...searchQuery(search), enabled: isAsked });
  const pages = isAsked ? found.data?.pages : undefined;
  const groups = useMemo(() => groupsOf(pages ?? [], me), [pages, me]);
  const hits = groups.flatMap((group) => group.hits);
  const authors = useMemo((): Author[] => groups.flatMap((group) => group.hits.map((hit) => hit.from)), [groups]);
  const total = pages?.at(-1)?.total ?? 0;
  const isCapped = pages?.at(-1)?.total_capped ?? false;

  const onSearch = (next: Search) => {
    const { shown: _, ...wanted } = next;
    // The same again is asked again; anything else is a place that one can come back to.
    if (JSON.stringify(clean(wanted)) === JSON.stringify(clean(search))) return void found.refetch();
    void navigate({ search: wanted });
  };

  // As many as the address says, page by page.
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, isPlaceholderData } = found;
  useEffect(() => {
    const isShort = hits.length < shown && hasNextPage && !isPlaceholderData;
    if (isShort && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hits.length, shown, hasNextPage, isPlaceholderData, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const more = () => {
    if (isFetchNextPageError) void fetchNextPage();
    void navigate({ search: { ...search, shown: hits.length + HITS }, replace: true });
  };

  const step = (by: 1 | -1) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a[data-open]") ?? [])];
    const at = links.findIndex((link) => link.closest("article")?.contains(document.activeElement));
    const next = at < 0 ? links[0] : links[at + by];
    if (next) next.focus();
    else if (by === -1) document.getElementById(SEARCH_FIELD)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isLetter = event.key === "j" || event.key === "k";
    if (isLetter ? !hasSingleKeys() : event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    step(event.key === "j" || event.key === "ArrowDown" ? 1 : -1);
  };

  // What the hub does not understand is not worth trying again as it is.
  const fault = found.error instanceof Problem && !found.error.isPassing ? found.error : null;
  const faults = fault?.fields.map((one) => one.field) ?? [];

  return (
    <Page
      title={search.q ? `Search: ${search.q}` : "Search"}
      isFlush
      header={(heading) => (
        <header className="flex shrink-0 flex-col gap-2 border-b border-line px-6 py-2 max-md:px-4">
          <div className="sr-only">{heading}</div>
          <div className="flex max-md:pl-10">
            <SearchField search={search} onSearch={onSearch} faults={faults} onDown={() => step(1)} />
          </div>
          <div className={classes("flex min-h-7 flex-wrap items-center gap-2", !isAsked && "lg:hidden")}>
            <p role="status" className="min-w-0 flex-1 max-md:basis-full">
              {pages ? (
                <>
                  <strong>
                    {isCapped ? "More than " : ""}
                    {total.toLocaleString()} {total === 1 ? "message" : "messages"}
                  </strong>
                  {hits.length ? <span className="text-muted"> · showing 1 to {hits.length.toLocaleString()}, newest first</span> : null}
                </>
              ) : isAsked && found.isFetching ? (
                <span className="text-muted">Searching…</span>
              ) : null}
            </p>
            <Button className="lg:hidden" aria-expanded={isRailOpen} onClick={() => setRailOpen(true)}>
              <SlidersHorizontal size={14} aria-hidden="true" />
              Filters{chipsOf(search).length ? ` (${chipsOf(search).length})` : ""}
            </Button>
            {isAsked ? <CopyButton text={`${location.origin}${here}`} label="Copy link" /> : null}
          </div>
        </header>
      )}
    >
      <div className="flex min-h-0 flex-1">
        <div
          ref={list}
          aria-busy={found.isPlaceholderData}
          onKeyDown={onKeyDown}
          className={classes("min-w-0 flex-1 overflow-y-auto pb-6", found.isPlaceholderData && isAsked && "opacity-60")}
        >
          {isAsked ? null : <Help onSearch={onSearch} />}
          {isAsked && found.isError && !pages ? (
            <Failed error={found.error} retry={fault ? undefined : () => void found.refetch()} />
          ) : null}
          {isAsked && found.isLoading ? <Skeleton /> : null}
          {pages && hits.length === 0 ? <Nothing search={search} onSearch={onSearch} /> : null}
          {groups.map((group) => (
            <GroupPart key={group.key} group={group} isOnly={search.channel === group.place.name} onOnly={() => onSearch({ ...search, channel: group.place.name })} />
          ))}
          {isFetchNextPageError ? <Failed error={found.error} /> : null}
          {hasNextPage && !isPlaceholderData ? (
            <div className="px-6 pt-4 max-md:px-4 md:pl-[68px]">
              <Button disabled={isFetchingNextPage} onClick={more}>
                {isFetchingNextPage ? "Loading…" : `Show ${Math.min(HITS, total - hits.length).toLocaleString()} more`}
              </Button>
            </div>
          ) : null}
        </div>
        <FilterRail search={search} onSearch={onSearch} authors={authors} isOpen={isRailOpen} onClose={() => setRailOpen(false)} />
      </div>
    </Page>
  );
}

/** Without what is not asked, in a fixed order, so that equal searches are equal. */
function clean(search: Search) {
  return ["q" as const, ...FILTERS].map((name) => search[name] ?? null);
}

function GroupPart({ group, isOnly, onOnly }: { group: Group; isOnly: boolean; onOnly: () => void }) {
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

/** Nothing was found, and what may be found instead. */
function Nothing({ search, onSearch }: { search: Search; onSearch: (next: Search) => void }) {
  const hasFilters = chipsOf(search).length > 0;
  // A word that is not there as it stands may be the beginning of one.
  const longer = search.q && /^[\p{L}\p{N}]+$/u.test(search.q) ? `${search.q}*` : null;
  return (
    <Empty title="Nothing found">
      <p>Only messages that you can see are searched.</p>
      <div className="mt-3 flex flex-wrap justify-center gap-2">
        {hasFilters && search.q ? <Button onClick={() => onSearch({ q: search.q })}>Search without the filters</Button> : null}
        {longer ? <Button onClick={() => onSearch({ ...search, q: longer })}>Words that begin with {search.q}</Button> : null}
        <Button onClick={() => onSearch({})}>Start over</Button>
      </div>
    </Empty>
  );
}

function Help({ onSearch }: { onSearch: (next: Search) => void }) {
  const week = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-4 p-6 max-md:px-4">
      <h2 className="text-lg font-semibold">Find what was said</h2>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => onSearch({ after: week })}>Everything from the last week</Button>
        <Button onClick={() => onSearch({ has: "attachment" })}>With attachments</Button>
        <Button onClick={() => onSearch({ state: "in_progress" })}>In progress</Button>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 max-sm:grid-cols-1">
        <HelpLine typed="deploy failed">both words, anywhere in a message</HelpLine>
        <HelpLine typed="“deploy failed”">these words, one after the other</HelpLine>
        <HelpLine typed="deploy*">words that start like this</HelpLine>
        <HelpLine typed="-failed">without this word</HelpLine>
        {HELP.map((one) => (
          <HelpLine key={one.filter} typed={one.typed}>
            {one.about}
          </HelpLine>
        ))}
      </dl>
      <p className="text-muted">
        Each part narrows the search. <code className="font-mono text-sm">in:</code>, <code className="font-mono text-sm">from:</code> and{" "}
        <code className="font-mono text-sm">is:</code> are the same as channel, agent and state; <code className="font-mono text-sm">-in:ops</code>{" "}
        leaves out.
      </p>
    </div>
  );
}

function HelpLine({ typed, children }: { typed: string; children: ReactNode }) {
  return (
    <div className="contents max-sm:block">
      <dt>
        <code className="rounded-sm bg-panel px-1 font-mono text-sm">{typed}</code>
      </dt>
      <dd className="text-muted">{children}</dd>
    </div>
  );
}
