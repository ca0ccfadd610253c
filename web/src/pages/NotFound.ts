import { lazyPart } from "../ui/lazyPart";

/** There is no such page. Few people see this, so no page waits for its code. */
export const NotFound = lazyPart(() => import("./NotFoundPage").then((part) => part.NotFoundPage));
