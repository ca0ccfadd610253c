import { useSyncExternalStore } from "react";

/** A value that parts of the page share. */
export interface Store<T> {
  get(): T;
  set(next: T | ((now: T) => T)): void;
  subscribe(listener: () => void): () => void;
}

export function store<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const changed = typeof next === "function" ? (next as (now: T) => T)(value) : next;
      if (Object.is(changed, value)) return;
      value = changed;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T, Part = T>(from: Store<T>, select: (value: T) => Part = (value) => value as unknown as Part): Part {
  return useSyncExternalStore(from.subscribe, () => select(from.get()));
}
