type Keeper = "browser" | "tab";

/** Asking for a storage that is off throws, too. */
const storageOf = (keeper: Keeper) => (keeper === "tab" ? sessionStorage : localStorage);

/** What this browser keeps, or this tab of it. Storage may be full, off or hold anything, so nothing depends on it. */
export function load<T>(key: string, fallback: T, keeper: Keeper = "browser"): T {
  try {
    const text = storageOf(keeper).getItem(key);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Nothing that belongs to this person is kept any more. */
let forgotten: string | null = null;

/** Everything that a browser keeps of somebody begins with one of these. */
const kindsOf = (person: string) => [`stoa.draft.${person}.`, `stoa.outgoing.${person}`, `stoa.kinds.${person}.`];
const isOf = (person: string, key: string) => kindsOf(person).some((kind) => key === kind || (kind.endsWith(".") && key.startsWith(kind)));

/** Deletes what the browser and this tab keep of somebody: drafts, and what they have not sent. Returns how to keep such things again. */
export function forget(person: string): () => void {
  forgotten = person;
  for (const keeper of ["browser", "tab"] as const) {
    try {
      const storage = storageOf(keeper);
      for (const key of Object.keys(storage).filter((one) => isOf(person, one))) storage.removeItem(key);
    } catch {
      // What is off keeps nothing.
    }
  }
  for (const listener of listeners) for (const kind of kindsOf(person)) listener(kind);
  return () => {
    forgotten = null;
  };
}

const listeners = new Set<(key: string) => void>();

/** Calls back when something is kept or deleted by this tab. Other tabs have the event of the browser. Returns how to stop. */
export function onSave(listener: (key: string) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function save(key: string, value: unknown, keeper: Keeper = "browser"): void {
  // A message that fails while its author logs out would be kept again.
  if (forgotten !== null && isOf(forgotten, key)) return;
  try {
    if (value === null || value === undefined || value === "") {
      storageOf(keeper).removeItem(key);
    } else {
      storageOf(keeper).setItem(key, JSON.stringify(value));
    }
  } catch {
    // The page works on without it.
  }
  for (const listener of listeners) listener(key);
}
