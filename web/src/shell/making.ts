import { store } from "../lib/store";

/** What somebody is about to make, on whichever page they are. */
export const making = store<"channel" | "agent" | null>(null);
