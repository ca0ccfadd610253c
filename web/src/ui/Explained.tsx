import { type ReactNode, useId, useState } from "react";

/** A button that says what a word means, with the mouse, the keyboard or a finger; and where it says it. */
export function useExplained(word: string, about: string): { button: ReactNode; note: ReactNode } {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const button = (
    <button
      type="button"
      aria-label={`What does “${word}” mean?`}
      aria-expanded={isOpen}
      aria-controls={id}
      title={about}
      onClick={() => setOpen(!isOpen)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && isOpen) {
          event.stopPropagation();
          setOpen(false);
        }
      }}
      className="group inline-flex size-6 items-center justify-center align-middle text-muted hover:text-fg pointer-coarse:size-11"
    >
      <span aria-hidden="true" className="flex size-4 items-center justify-center rounded-full border border-control text-xs leading-none group-aria-expanded:bg-selected">
        ?
      </span>
    </button>
  );
  // It is there before it says anything, so that it is read out when it does.
  const note = (
    <span id={id} role="status" className={isOpen ? "block max-w-[40ch] pb-1 text-sm font-normal whitespace-normal text-fg" : undefined}>
      {isOpen ? about : ""}
    </span>
  );
  return { button, note };
}

/** A word that not everybody knows, with what it means below it. */
export function Explained({ word, about }: { word: string; about: string }) {
  const { button, note } = useExplained(word, about);
  return (
    <>
      {word} {button}
      {note}
    </>
  );
}
