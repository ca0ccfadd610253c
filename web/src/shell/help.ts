import { store } from "../lib/store";

/** Whether the list of shortcuts is open. */
export const shortcutHelp = store(false);
