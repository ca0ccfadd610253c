import { ChevronDown, ChevronUp, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";

import { IconButton } from "./Button";

interface PeekPaneProps {
  /** What is shown in it, for those who cannot see it. */
  label: string;
  title: ReactNode;
  onStep: (step: 1 | -1) => void;
  hasNext: boolean;
  hasPrevious: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** One row of a list beside the list, and a way along the list. On a phone it covers the page. */
export function PeekPane({ label, title, onStep, hasNext, hasPrevious, onClose, children }: PeekPaneProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Keys work where the focus is, so it comes here.
  useEffect(() => heading.current?.focus(), []);
  return (
    <aside
      aria-label={label}
      className="flex w-[400px] shrink-0 flex-col border-l border-line bg-bg max-lg:absolute max-lg:inset-0 max-lg:z-30 max-lg:w-full"
    >
      <header className="flex h-12 shrink-0 items-center gap-1 border-b border-line px-4">
        <h2 ref={heading} tabIndex={-1} className="min-w-0 flex-1 truncate font-semibold outline-none">
          {title}
        </h2>
        <IconButton label="Previous (k)" disabled={!hasPrevious} onClick={() => onStep(-1)}>
          <ChevronUp size={16} />
        </IconButton>
        <IconButton label="Next (j)" disabled={!hasNext} onClick={() => onStep(1)}>
          <ChevronDown size={16} />
        </IconButton>
        <IconButton label="Close (Esc)" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4" aria-live="polite">
        {children}
      </div>
    </aside>
  );
}
