import { useId, useState } from "react";

/** A word that not everybody knows, and a button that says what it means: with the mouse, the keyboard or a finger. */
export function Explained({ word, about }: { word: string; about: string }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {word}{" "}
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
      <span id={id} role="status" className={isOpen ? "block max-w-[40ch] min-w-40 pb-1 text-sm font-normal whitespace-normal text-fg" : undefined}>
        {isOpen ? about : ""}
      </span>
    </>
  );
}
