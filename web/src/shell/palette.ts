import { store } from "../lib/store";

/** Whether the palette is open. */
export const palette = store(false);
