import type { QueryClient } from "@tanstack/react-query";

import { sentenceOf } from "../api/problem";
import type { Message, Reaction } from "../api/types";
import { toast } from "../ui/Toasts";

/** Reacts to a message, or takes one's reaction back. How that goes is loaded when somebody first does it. */
export function toggleReaction(client: QueryClient, message: Message, reaction: Reaction): void {
  import("./react").then(
    ({ toggle }) => toggle(client, message, reaction),
    (error: unknown) => toast(sentenceOf(error), { isError: true }),
  );
}

/** A button that is gone after it was pressed leaves the keyboard where the message is. */
export function keepFocus(button: HTMLElement): void {
  button.closest<HTMLElement>("[data-message]")?.focus({ preventScroll: true });
}
