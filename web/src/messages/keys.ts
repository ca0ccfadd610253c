import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef } from "react";

import type { Message, Reaction } from "../api/types";
import { hasSingleKeys } from "../lib/appearance";
import { toggleReaction } from "./act";

const REACTS: Record<string, Reaction> = { a: "approve", x: "reject", c: "in_progress", d: "done" };
/** Where keys mean something else. */
const ELSEWHERE = "input, textarea, select, [contenteditable], [role=menu], [role=dialog]";
/** How long a message that was far away may take to be there. */
const MOST_FRAMES = 30;

interface ListOfMessages {
  messages: readonly Message[];
  /** Brings a message into the page. */
  show?: (id: number) => void;
  onReply: (id: number) => void;
}

/** The keys of a list of messages. They work while the list has the focus, and only where single keys are switched on. */
export function useMessageKeys({ messages, show, onReply }: ListOfMessages): (event: KeyboardEvent<HTMLElement>) => void {
  const client = useQueryClient();
  const wasG = useRef(false);
  return (event) => {
    const box = event.currentTarget;
    const target = event.target as HTMLElement;
    // `g` and a second key go somewhere, whatever that key does alone.
    const isGoing = wasG.current;
    wasG.current = event.key === "g";
    if (isGoing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !hasSingleKeys()) return;
    if (!box.contains(target) || target.closest(ELSEWHERE)) return;
    const id = Number(target.closest<HTMLElement>("[data-message]")?.dataset["message"]);
    const at = messages.findIndex((message) => message.id === id);
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      const next = at < 0 ? seen(box, event.key === "k") : messages[at + (event.key === "j" ? 1 : -1)]?.id;
      if (next !== undefined) focus(box, next, show);
      return;
    }
    const message = messages[at];
    if (!message || message.deleted_at) return;
    const reaction = REACTS[event.key];
    if (event.key === "r") {
      event.preventDefault();
      onReply(message.id);
    } else if (reaction && !event.repeat) {
      event.preventDefault();
      toggleReaction(client, message, reaction);
    }
  };
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
