import { store } from "../lib/store";

/** The message that is being edited, if any is. */
export const editing = store<number | null>(null);
