/** Stands in for the router's own. The page never scrolls as a whole. */
export function setupScrollRestoration(): void {}
export function getElementScrollRestorationEntry(): void {}
export const defaultGetScrollRestorationKey = (): string => "";
export const storageKey = "";
