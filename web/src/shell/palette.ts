import { store } from "../lib/store";

/** Whether the palette is open. */
export const palette = store(false);

/** What was typed before it was there. */
export const paletteText = store("");
