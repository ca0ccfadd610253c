import type { Attachment } from "../api/types";
import { store } from "../lib/store";

/** The pictures that are looked at in large, and at which one. */
export const lightbox = store<{ files: Attachment[]; at: number } | null>(null);
