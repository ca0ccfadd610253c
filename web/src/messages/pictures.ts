import type { Attachment } from "../api/types";

/** What the hub lets a browser show in place. */
const SHOWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** There are no smaller versions, so whoever looks at a conversation would load all of it. */
const MOST_SHOWN_BYTES = 8 * 1024 * 1024;

export function isImage(file: Attachment): boolean {
  return SHOWN.includes(file.mime_type);
}

/** Whether it is shown in the conversation; what is not can still be opened. */
export function hasThumbnail(file: Attachment): boolean {
  return isImage(file) && file.size <= MOST_SHOWN_BYTES;
}
