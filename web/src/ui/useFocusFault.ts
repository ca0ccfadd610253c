import { type RefObject, useEffect, useRef } from "react";

/** Moves the focus to the first wrong field of the form around the returned ref, each time that something new is wrong. */
export function useFocusFault<Anchor extends HTMLElement>(fault: unknown): RefObject<Anchor | null> {
  const anchor = useRef<Anchor>(null);
  useEffect(() => {
    if (!fault) return;
    // Parts of a page without a form, for example a test, are sections.
    const form = anchor.current?.closest("form, section, [role=dialog]");
    form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [fault]);
  return anchor;
}
