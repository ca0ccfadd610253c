import { store } from "../lib/store";

interface Toast {
  id: number;
  text: string;
  isError: boolean;
  undo?: () => void;
}

const SHOWN_MS = 6000;
/** What can be taken back, and what went wrong, takes longer to decide about. */
const SHOWN_LONG_MS = 12_000;
/** While somebody is at one of them, none goes away. */
let isHeld = false;
export const toasts = store<Toast[]>([]);
let next = 1;

export function dismiss(id: number): void {
  isHeld = false;
  toasts.set((now) => now.filter((toast) => toast.id !== id));
}

export function hold(isNow: boolean): void {
  isHeld = isNow;
}

/** Says something in passing. What can be taken back can be taken back from here. */
export function toast(text: string, options: { isError?: boolean; undo?: () => void } = {}): void {
  const id = next++;
  toasts.set((now) => [...now.slice(-3), { id, text, isError: options.isError ?? false, undo: options.undo }]);
  const end = () => void (isHeld ? setTimeout(end, 1000) : dismiss(id));
  setTimeout(end, options.isError || options.undo ? SHOWN_LONG_MS : SHOWN_MS);
}
