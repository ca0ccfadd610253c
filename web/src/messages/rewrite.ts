import type { Attachment, Place } from "../api/types";
import { load, save } from "../lib/storage";
import { draftKey, fromAttachment, returned, setFiles } from "./drafts";
import { type Outgoing, discard } from "./outbox";

/** Takes back what could not be sent, to write it anew. */
export function rewrite(place: Place, one: Outgoing): void {
  discard(one.key);
  putBack(draftKey(place, one.replyTo), one.request.body, one.files ?? []);
}

/** Puts what could not be sent back to where it was written, before what is there by now. */
export function putBack(key: string, body: string, files: readonly Attachment[]): void {
  const now = load(key, "");
  save(key, [body, now].filter((text) => text.trim()).join("\n\n"));
  setFiles(key, (there) => {
    const isThere = (file: Attachment) => there.some(({ attachment }) => attachment?.sha256 === file.sha256);
    return [...files.filter((file) => !isThere(file)).map(fromAttachment), ...there];
  });
  returned.set((count) => count + 1);
}
