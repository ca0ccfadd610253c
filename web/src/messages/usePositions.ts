import { type RefObject, useLayoutEffect, useMemo } from "react";

import type { Conversation } from "../api/queries";
import type { Row } from "./rows";

/**
 * Says in each row which message of how many it is. It sets the attributes by hand: as properties, each new message would draw all rows
 * again.
 */
export function usePositions(box: RefObject<HTMLDivElement | null>, rows: Row[], data: Conversation): void {
  const places = useMemo(() => {
    let count = 0;
    return rows.map((row) => (row.kind === "message" ? ++count : 0));
  }, [rows]);
  useLayoutEffect(() => {
    const size = String(data.hasOlder ? -1 : data.items.length);
    for (const article of box.current?.querySelectorAll<HTMLElement>("article[data-message]") ?? []) {
      const place = String(places[Number(article.parentElement?.dataset["index"])] ?? 0);
      if (article.getAttribute("aria-posinset") !== place) article.setAttribute("aria-posinset", place);
      if (article.getAttribute("aria-setsize") !== size) article.setAttribute("aria-setsize", size);
    }
  });
}
