import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useRef } from "react";

import type { Message } from "../api/types";
import { hasSingleKeys } from "../lib/appearance";

/** Where keys mean something else. */
const ELSEWHERE = "input, textarea, select, [contenteditable], [role=menu], [role=dialog]";

export interface ListOfMessages {
  messages: readonly Message[];
  /** Brings a message into the page. */
  show?: (id: number) => void;
  onReply: (id: number) => void;
}

/**
 * The keys of a list of messages. They work while the list has the focus, and only where single keys are switched on. What they do is
 * loaded with the first of them.
 */
export function useMessageKeys(list: ListOfMessages): (event: KeyboardEvent<HTMLElement>) => void {
  const client = useQueryClient();
  const wasG = useRef(false);
  return (event) => {
    const { key, currentTarget } = event;
    const target = event.target as HTMLElement;
    // `g` and a second key go somewhere, whatever that key does alone.
    const isGoing = wasG.current;
    wasG.current = key === "g";
    if (isGoing || !/^[jkraxcd]$/.test(key) || event.ctrlKey || event.metaKey || event.altKey || !hasSingleKeys()) return;
    if (!currentTarget.contains(target) || target.closest(ELSEWHERE)) return;
    event.preventDefault();
    const isRepeated = event.repeat;
    // A part that cannot be loaded is told when somebody clicks.
    void import("./keyActions").then(({ onMessageKey }) => onMessageKey(client, list, currentTarget, key, isRepeated), () => undefined);
  };
}
