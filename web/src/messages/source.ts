import type { Message } from "../api/types";
import { store } from "../lib/store";

/** The message whose exact text is looked at, or whose earlier texts are. */
export const source = store<{ message: Message; part: "source" | "history" } | null>(null);

export function showSource(message: Message): void {
  source.set({ message, part: "source" });
}

export function showHistory(message: Message): void {
  source.set({ message, part: "history" });
}
