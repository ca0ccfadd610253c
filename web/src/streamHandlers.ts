import { agentsHandler } from "./agents/streamHandler";
import type { EventKind } from "./api/events";
import type { StreamHandler } from "./live/handlers";
import { resyncHandler } from "./live/resync";
import { messagesHandler } from "./messages/streamHandler";
import { boardHandler } from "./pages/board/streamHandler";
import { channelsHandler } from "./pages/channel/streamHandler";
import { inboxHandler } from "./pages/inbox/streamHandler";
import { searchHandler } from "./pages/search/streamHandler";
import { runsHandler } from "./runs/streamHandler";

// Every page loads these handlers right after its first paint, so a handler imports no component.
const handlers = [messagesHandler, boardHandler, inboxHandler, searchHandler, channelsHandler, agentsHandler, runsHandler, resyncHandler] as const;

/** The stream handlers of all features. */
export const streamHandlers: readonly StreamHandler[] = handlers;

/** Kinds of events that change nothing on the page. */
type Ignored = "goal" | "wiki";

type KindsOf<Handler> = Handler extends { events: infer Events } ? keyof Events : never;
type Unhandled = Exclude<EventKind, Ignored | KindsOf<(typeof handlers)[number]>>;

// The compiler names a kind that no feature handles: "Type 'true' does not satisfy the expected type '"wiki"'".
true satisfies [Unhandled] extends [never] ? true : Unhandled;
