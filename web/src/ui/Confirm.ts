import { lazyPart } from "./lazyPart";

/** Asks before something that cannot be undone. Pages show it rarely, so they do not wait for its code. */
export const Confirm = lazyPart(() => import("./ConfirmDialog").then((part) => part.ConfirmDialog));
