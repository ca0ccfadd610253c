import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Channel, Message, WorkflowState } from "../../api/types";
import { type Scope, columnQuery } from "../../api/workflow";
import { STATE_ORDER } from "../../ui/StateBadge";
import { type Standing, standingOf } from "../../workflow/ages";
import { isCard, passes } from "./filter";
import type { BoardFilter } from "./search";

/** A message on the board, and how it stands. */
export interface Card {
  message: Message;
  standing: Standing;
  channel: Channel | undefined;
}

export interface ColumnView {
  state: WorkflowState;
  cards: Card[];
  /** How many are loaded, shown or not. */
  loaded: number;
  hasMore: boolean;
  isLoading: boolean;
  isLoadingMore: boolean;
  error: unknown;
  more: () => void;
  retry: () => void;
}

/** The columns of a board, with what the filter leaves of them. */
export function useColumns(scope: Scope, channels: readonly Channel[], filter: BoardFilter, now: number) {
  const byName = useMemo(() => new Map(channels.map((channel) => [channel.name, channel])), [channels]);
  // The states are always the same six, so the hooks are, too.
  const queries = STATE_ORDER.map((state) => useInfiniteQuery(columnQuery(scope, state)));
  const all = useMemo(
    () =>
      queries.map(({ data }): Card[] =>
        (data?.pages ?? [])
          .flatMap((page) => page.items)
          .filter(isCard)
          .map((message) => {
            const channel = byName.get(message.channel ?? "");
            return { message, channel, standing: standingOf(message, channel, now) };
          }),
      ),
    [byName, now, ...queries.map(({ data }) => data)],
  );
  const columns = STATE_ORDER.map((state, at): ColumnView => {
    const query = queries[at]!;
    const cards = all[at]!;
    // Behind a page of what is no work there is only what is older.
    const isEnd = (query.data?.pages.at(-1)?.items.filter(isCard).length ?? 0) === 0;
    return {
      state,
      cards: cards.filter(({ message, standing }) => passes(message, filter, standing.isStale)),
      loaded: cards.length,
      hasMore: query.hasNextPage && !isEnd,
      isLoading: query.isLoading,
      isLoadingMore: query.isFetchingNextPage,
      error: query.error,
      more: () => void query.fetchNextPage(),
      retry: () => void query.refetch(),
    };
  });
  return { columns, all: all.flat() };
}
