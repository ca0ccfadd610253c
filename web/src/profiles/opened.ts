import { store } from "../lib/store";

/** Whose card is open, and the element that opened it. */
export interface OpenedProfile {
  name: string;
  opener: HTMLElement;
}

export const openedProfile = store<OpenedProfile | null>(null);

/**
 * Opens a card for every element that names somebody: `data-profile` on parts of the page, `a.mention` in Markdown, whose HTML has no
 * components. One listener serves all of them.
 */
export function openProfile(event: MouseEvent): void {
  const opener = (event.target as Element).closest<HTMLElement>("[data-profile], a.mention");
  // With such a key, a link opens its page in another tab.
  if (!opener || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const name = opener.dataset["profile"] ?? opener.textContent.slice(1);
  openedProfile.set((now) => {
    // A name within the card replaces what the card shows, so the card stays where it is.
    if (now && opener.closest("[data-card]")) return { name, opener: now.opener };
    return now?.opener === opener ? null : { name, opener };
  });
}
