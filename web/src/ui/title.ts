import { store } from "../lib/store";

/** What the page that is open is called. */
export const pageTitle = store("");
