import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouterState } from "@tanstack/react-router";
import { SlidersHorizontal } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";

import { Problem } from "../../api/problem";
import { meQuery } from "../../api/queries";
import { HITS, searchQuery } from "../../api/search";
import type { Author } from "../../api/types";
import { hasSingleKeys } from "../../lib/appearance";
import { SEARCH_FIELD } from "../../shell/shortcuts";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyField";
import { Page } from "../../ui/Page";
import { Failed, Skeleton } from "../../ui/States";
import { classes } from "../../ui/classes";
import { FilterRail } from "./FilterRail";
import { HitCount } from "./HitCount";
import { HitGroup } from "./HitGroup";
import { NothingFound } from "./NothingFound";
import { SearchField } from "./SearchField";
import { SearchHelp } from "./SearchHelp";
import { FILTERS, type Search } from "./address";
import { groupsOf } from "./groups";
import { chipsOf, isBlank } from "./query";

const route = getRouteApi("/search");

/** Finds messages. The address holds the whole search, so the person can send it to somebody. */
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
  const isIndexing = pages?.at(-1)?.indexing ?? false;

  const onSearch = (next: Search) => {
    const { shown: _, ...wanted } = next;
    // The same search is repeated; another one is a new entry in the history.
    if (JSON.stringify(clean(wanted)) === JSON.stringify(clean(search))) return void found.refetch();
    void navigate({ search: wanted });
  };

  // Loads page by page until as many results are shown as the address says.
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

  // A search that the hub refuses is not worth a retry.
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
                <HitCount total={total} isCapped={isCapped} shown={hits.length} isIndexing={isIndexing} />
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
          {isAsked ? null : <SearchHelp onSearch={onSearch} />}
          {isAsked && found.isError && !pages ? (
            <Failed error={found.error} retry={fault ? undefined : () => void found.refetch()} />
          ) : null}
          {isAsked && found.isLoading ? <Skeleton /> : null}
          {pages && hits.length === 0 ? <NothingFound search={search} onSearch={onSearch} /> : null}
          {groups.map((group) => (
            <HitGroup key={group.key} group={group} isOnly={search.channel === group.place.name} onOnly={() => onSearch({ ...search, channel: group.place.name })} />
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

/** The parts of a search in a fixed order, so that equal searches are equal. */
function clean(search: Search) {
  return ["q" as const, ...FILTERS].map((name) => search[name] ?? null);
}
