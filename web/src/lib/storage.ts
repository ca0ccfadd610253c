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

export function save(key: string, value: unknown, keeper: Keeper = "browser"): void {
  try {
    if (value === null || value === undefined || value === "") {
      storageOf(keeper).removeItem(key);
    } else {
      storageOf(keeper).setItem(key, JSON.stringify(value));
    }
  } catch {
    // The page works on without it.
  }
}
