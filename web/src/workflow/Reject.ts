import { lazyPart } from "../ui/lazyPart";

/** Asks why something is rejected. The board and the inbox do not wait for its code. */
export const Reject = lazyPart(() => import("./RejectDialog").then((part) => part.RejectDialog));
