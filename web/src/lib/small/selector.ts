import { useMemo, useRef, useSyncExternalStore } from "react";

/** Stands in for the shim of the same name, which also serves versions of React that have no `useSyncExternalStore`. */
export function useSyncExternalStoreWithSelector<Snapshot, Selection>(
  subscribe: (listener: () => void) => () => void,
  getSnapshot: () => Snapshot,
  _getServerSnapshot: unknown,
  selector: (snapshot: Snapshot) => Selection,
  isEqual: (one: Selection, other: Selection) => boolean,
): Selection {
  /** What was selected last. As long as a new selection is equal to it, nothing is drawn again. */
  const drawn = useRef<{ selection: Selection }>(null);
  const select = useMemo(() => {
    let known: { snapshot: Snapshot; selection: Selection } | null = null;
    return () => {
      const snapshot = getSnapshot();
      if (known && Object.is(known.snapshot, snapshot)) return known.selection;
      const before = known ?? drawn.current;
      const next = selector(snapshot);
      const selection = before && isEqual(before.selection, next) ? before.selection : next;
      known = { snapshot, selection };
      return selection;
    };
  }, [getSnapshot, selector, isEqual]);
  const selection = useSyncExternalStore(subscribe, select);
  drawn.current = { selection };
  return selection;
}
