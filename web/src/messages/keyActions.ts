import type { QueryClient } from "@tanstack/react-query";

import type { Reaction } from "../api/types";
import { toggleReaction } from "./act";
import type { ListOfMessages } from "./keys";
import { showSource } from "./source";

const REACTS: Record<string, Reaction> = { a: "approve", x: "reject", c: "in_progress", d: "done" };
/** How long a message that was far away may take to be there. */
const MOST_FRAMES = 30;

/** Does what a key means for the message that has the focus. */
export function onMessageKey(client: QueryClient, list: ListOfMessages, box: HTMLElement, key: string, isRepeated: boolean): void {
  const { messages, show, onReply } = list;
  const focused = document.activeElement?.closest<HTMLElement>("[data-message]");
  const at = messages.findIndex((message) => String(message.id) === focused?.dataset["message"]);
  if (key === "j" || key === "k") {
    const next = at < 0 ? seen(box, key === "k") : messages[at + (key === "j" ? 1 : -1)]?.id;
    if (next !== undefined) focus(box, next, show);
    return;
  }
  const message = messages[at];
  if (!message || message.deleted_at) return;
  const reaction = REACTS[key];
  if (key === "r") onReply(message.id);
  else if (key === "s") showSource(message);
  else if (reaction && !isRepeated) toggleReaction(client, message, reaction);
}

/** The first message that one sees, or the last one. */
function seen(box: HTMLElement, isLast: boolean): number | undefined {
  const { top, bottom } = box.getBoundingClientRect();
  const inView = [...box.querySelectorAll<HTMLElement>("[data-message]")].filter((one) => {
    const place = one.getBoundingClientRect();
    return place.bottom > top + 8 && place.top < bottom - 8;
  });
  const found = isLast ? inView.at(-1) : inView[0];
  return found ? Number(found.dataset["message"]) : undefined;
}

/** Goes to a message. One that is not in the page yet comes into it in the next moments. */
function focus(box: HTMLElement, id: number, show: ((id: number) => void) | undefined): void {
  show?.(id);
  let frames = 0;
  const look = () => {
    const found = box.querySelector<HTMLElement>(`[data-message="${id}"]`);
    if (!found) {
      if (frames++ < MOST_FRAMES) requestAnimationFrame(look);
      return;
    }
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest" });
  };
  look();
}
