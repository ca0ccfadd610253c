import { useMemo, useSyncExternalStore } from "react";

import { person } from "../lib/person";
import { onSave } from "../lib/storage";

const SEPARATOR = "\n";

/** The conversations that have a draft in this browser, each by its `placeKey`, in one text. */
export function draftedPlaces(keys: readonly string[], writer: string): string {
  const prefix = `stoa.draft.${writer}.`;
  // What comes after the place is the thread that is answered, or the files of the draft.
  const places = keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length).split(".", 1)[0]!);
  return [...new Set(places)].sort().join(SEPARATOR);
}

function placesNow(): string {
  try {
    return draftedPlaces(Object.keys(localStorage), person.get() ?? "");
  } catch {
    // A browser without storage keeps no drafts.
    return "";
  }
}

function follow(listener: () => void): () => void {
  const stop = onSave((key) => key.startsWith("stoa.draft.") && listener());
  // Other tabs write drafts, too.
  window.addEventListener("storage", listener);
  return () => {
    stop();
    window.removeEventListener("storage", listener);
  };
}

/** The conversations with something that was not sent. */
export function useDraftedPlaces(): ReadonlySet<string> {
  const places = useSyncExternalStore(follow, placesNow);
  return useMemo(() => new Set(places.split(SEPARATOR)), [places]);
}
