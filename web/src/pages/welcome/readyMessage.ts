import { useEffect } from "react";

import type { Place } from "../../api/types";
import { load, save } from "../../lib/storage";
import { draftKey, returned } from "../../messages/drafts";

export const READY_MESSAGE = "Hello! What can you do here?";

/** Puts a first message into the box of a conversation in which nobody has written, unless something is typed there already. */
export function useReadyMessage(place: Place, isEmpty: boolean): void {
  useEffect(() => {
    if (!isEmpty) return;
    const draft = draftKey(place);
    if (load(draft, "") !== "") return;
    save(draft, READY_MESSAGE);
    returned.set((count) => count + 1);
    // What the person deletes stays deleted, so this looks only when the conversation is known to be empty.
  }, [place, isEmpty]);
}
