import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef } from "react";

import { TRACES_PAGE, type Trace, tracesQuery } from "../../api/traces";
import { peekKeys } from "../../ui/peekKeys";
import { filterOf, neighbour } from "./filter";

const route = getRouteApi("/traces");

/** Opens a trace beside the list and goes from trace to trace, also to those on other pages of the list. */
export function usePeek(items: Trace[], total: number) {
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const offset = search.offset ?? 0;
  const opener = useRef<HTMLElement | null>(null);
  const at = items.findIndex((one) => one.id === search.peek);
  const peeked = items[at];
  const peek = (trace: Trace) => {
    if (search.peek === undefined) opener.current = document.activeElement as HTMLElement | null;
    // Back closes the trace, because on a phone it covers the page. Going to the next trace adds no entry to the history.
    void navigate({ search: (now) => ({ ...now, peek: trace.id }), replace: search.peek !== undefined });
  };
  const close = () => {
    void navigate({ search: (now) => ({ ...now, peek: undefined }), replace: true });
    opener.current?.focus();
  };
  const step = async (by: 1 | -1) => {
    if (!peeked) return;
    const near = neighbour(items, peeked, by);
    if (near) return peek(near);
    for (let page = offset + by * TRACES_PAGE; page >= 0 && page < total; page += by * TRACES_PAGE) {
      const loaded = await client.fetchQuery(tracesQuery(filter, page)).catch(() => null);
      const found = loaded ? neighbour(loaded.items, peeked, by) : undefined;
      if (!loaded) return;
      if (found) {
        void navigate({ search: (now) => ({ ...now, offset: page || undefined, peek: found.id }), replace: true });
        return;
      }
    }
  };
  const onKeyDown = peekKeys({
    isOpen: search.peek !== undefined,
    close,
    step: (by) => {
      if (peeked) void step(by);
      else if (items[0]) peek(items[0]);
    },
  });
  return { at, peeked, peek, close, step, onKeyDown };
}
