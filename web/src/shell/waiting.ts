import { store } from "../lib/store";

/** How many things wait for the person, as far as it is known. `InboxWatch` keeps it up to date. */
export const waiting = store(0);
