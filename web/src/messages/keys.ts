import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef } from "react";

import type { Message } from "../api/types";
import { hasSingleKeys } from "../lib/appearance";
import { areKeysElsewhere } from "../shell/open";

export interface ListOfMessages {
  messages: readonly Message[];
  /** Brings a message into the page. */
  show?: (id: number) => void;
  onReply: (id: number) => void;
}

/** Whether a key is for a list: for a thread's while one is in the thread or it covers the page, and else for the conversation's. */
export function isFor(box: Element, target: Element): boolean {
  const thread = document.querySelector("[data-thread]");
  const hasThread = thread !== null && (thread.contains(target) || getComputedStyle(thread).position === "fixed");
  return hasThread === (box.closest("[data-thread]") !== null);
}

/**
 * The keys of a list of messages. They work wherever nothing else has the keys, and only where single keys are switched on. What they do
 * is loaded with the first of them.
 */
export function useMessageKeys(box: RefObject<HTMLElement | null>, list: ListOfMessages): void {
  const client = useQueryClient();
  const latest = useRef(list);
  latest.current = list;
  useEffect(() => {
    let wasG = false;
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (!(target instanceof Element) || areKeysElsewhere(target)) return;
      // `g` and a second key go somewhere, whatever that key does alone.
      const isGoing = wasG;
      wasG = key === "g";
      if (isGoing || !/^[jkraxcds]$/.test(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const element = box.current;
      if (!element || !hasSingleKeys() || !isFor(element, target)) return;
      // One goes to a message from anywhere; what is done is done to the one that has the focus.
      if (key !== "j" && key !== "k" && !target.closest("[data-message]")) return;
      event.preventDefault();
      // A part that cannot be loaded is told when somebody clicks.
      void import("./keyActions").then(
        ({ onMessageKey }) => onMessageKey(client, latest.current, element, key, event.repeat),
        () => undefined,
      );
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [box, client]);
}
